package api

import (
	"encoding/json"
	"errors"
	"reflect"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

const maxCustomID = 128

// BatchItem is a line of a batch: the body of a ticket, in lane batch, with an id of the
// caller's own.
type BatchItem struct {
	NewTicket
	CustomID string `json:"custom_id,omitempty" minLength:"1" maxLength:"128" doc:"the caller's own id of the line; no two lines of a batch have the same"`
}

// readItem makes an item of a line's bytes. What is wrong with it is a *chat.Error, whose
// text repeats nothing that the customer wrote.
func readItem(line []byte) (BatchItem, error) {
	var item BatchItem
	if len(line) == 0 {
		return item, chat.Bad("line", "must not be empty")
	}
	if err := checkHonest(line); err != nil {
		return item, err
	}
	if err := checkNames(line, reflect.TypeFor[BatchItem]()); err != nil {
		return item, err
	}
	if line[0] != '{' {
		return item, chat.Bad("line", "must be a JSON object")
	}
	err := json.Unmarshal(line, &item)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return item, chat.Bad(cut(kind.Field, maxMetadataKey), "must not be a JSON %s", jsonKind(kind.Value))
	case err != nil:
		return item, chat.Bad("line", "must be valid JSON")
	}
	return item, nil
}

// jsonKind drops what the parser repeats of a number.
func jsonKind(value string) string {
	if len(value) > 6 && value[:6] == "number" {
		return "number"
	}
	return value
}

// message makes a message in lane batch of the item, and checks it by the rules in force.
func (i *BatchItem) message(tenant chat.Tenant, limits map[chat.Lane]rules.Lane) (Message, error) {
	if i.Lane != "" && i.Lane != string(chat.Batch) {
		return Message{}, chat.Bad("lane", "must be batch, or left out")
	}
	m, err := (&submitInput{Body: i.NewTicket}).message(tenant)
	if err != nil {
		return m, err
	}
	m.Lane = chat.Batch
	if err := m.check(limits); err != nil {
		return m, err
	}
	return m, checkText("custom_id", i.CustomID, maxCustomID)
}

// label returns the ticket of a line without what is understood of its message.
func (i *BatchItem) label(b queue.Batch, line int) chat.Ticket {
	t := chat.Ticket{
		ID: chat.LineTicketID(b.ID, line), Tenant: b.Tenant, Session: i.SessionID, Lane: chat.Batch, Message: i.Message,
		CallbackURL: i.CallbackURL, Metadata: i.Metadata, AcceptedAt: b.CreatedAt, Deadline: b.Deadline,
		Batch: b.ID, Line: line, CustomID: i.CustomID,
	}
	if t.Session == "" {
		t.Session = chat.NewSessionID()
	}
	return t
}

// lineTicket makes the ticket of a line. It is the same whenever it is made, but for the
// name of a session that has none, and for what is understood of the message.
func (in *Intake) lineTicket(b queue.Batch, line int, item *BatchItem) chat.Ticket {
	limits := in.rules().Lanes
	tenant := chat.Tenant{Name: b.Tenant, Lane: chat.Batch}
	m, err := item.message(tenant, limits)
	if err != nil {
		// It was good when it was accepted; the rules have changed since.
		m = Message{Tenant: tenant, Session: item.SessionID, Text: item.Message, Lane: chat.Batch, Metadata: item.Metadata}
	}
	t, label := in.ticket(m, b.CreatedAt), item.label(b, line)
	in.follow(&t, chat.Event{})
	t.ID, t.Batch, t.Line, t.CustomID, t.Deadline = label.ID, label.Batch, label.Line, label.CustomID, label.Deadline
	if due := b.CreatedAt.Add(m.wait(limits[chat.Batch].MaxWait)); due.Before(t.Deadline) {
		t.Deadline = due
	}
	return t
}
