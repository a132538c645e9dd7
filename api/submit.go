package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// maxKey is the longest Idempotency-Key in characters.
const maxKey = 255

// NewTicket is the body of POST /v1/tickets.
type NewTicket struct {
	Message     string            `json:"message" minLength:"1" maxLength:"10000" example:"Where is my order 10042?" doc:"what the customer wrote; no control characters other than tab and newline"`
	SessionID   string            `json:"session_id,omitempty" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"the conversation; 1 to 64 of A-Z a-z 0-9 _ -. Left out: a new one"`
	Lane        string            `json:"lane,omitempty" enum:"high,normal,low,deferred,batch" doc:"up to the tenant's own, which is the default"`
	MaxWait     string            `json:"max_wait,omitempty" minLength:"1" example:"8s" doc:"from acceptance to the route decision; 1s up to the lane's, which is the default"`
	Phone       string            `json:"phone,omitempty" minLength:"1" example:"+8613800138000" doc:"E.164, of a length that its country has"`
	CallbackURL string            `json:"callback_url,omitempty" minLength:"1" maxLength:"2048" example:"https://shop.example/answers" doc:"absolute http or https URL"`
	Locale      string            `json:"locale,omitempty" minLength:"1" maxLength:"35" example:"zh-CN" doc:"BCP 47 tag; the language of the reply where the message tells none"`
	Customer    *CustomerRef      `json:"customer,omitempty" doc:"a session is one customer's, the first that was named: another one is 409 session_conflict"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"at most 16 pairs; keys of 1 to 64, values of up to 512 characters; comes back with the ticket"`
}

// CustomerRef is who asks, as the tenant knows them.
type CustomerRef struct {
	ID   string `json:"id,omitempty" maxLength:"128"`
	Name string `json:"name,omitempty" maxLength:"128"`
}

type submitInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"the same key and body within 24 hours: the same ticket"`
	Body NewTicket
}

type submitOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     Receipt
}

func (a *API) registerSubmit(api huma.API) {
	operate(api, huma.Operation{
		OperationID: "submit-ticket", Method: http.MethodPost, Path: "/v1/tickets", Tags: []string{"tickets"},
		Summary: "Hand in a customer's message",
		Description: "The message is durable before the 202. An identical message, while it is the session's last and " +
			"its ticket is open, is the same ticket (200). A lane that is full refuses with 503 `queue_full` and a " +
			"friendly `reply` for the customer.",
		DefaultStatus: http.StatusAccepted,
		Security:      []map[string][]string{{byTenantKey: {}}},
		Middlewares:   huma.Middlewares{a.keyed, checkedBody},
	}, []int{400, 401, 403, 408, 409, 413, 415, 429, 503}, a.submit)
	documentRepeat(api)
}

// documentRepeat adds the answer that the library cannot know of: 200 for a repeat.
func documentRepeat(api huma.API) {
	responses := api.OpenAPI().Paths["/v1/tickets"].Post.Responses
	responses["202"].Description = "Accepted"
	responses["200"] = &huma.Response{
		Description: "The same ticket as before",
		Headers:     responses["202"].Headers, Content: responses["202"].Content,
	}
}

func (a *API) submit(ctx context.Context, in *submitInput) (*submitOutput, error) {
	tenant := callerOf(ctx)
	m, err := in.message(tenant)
	if err != nil {
		return nil, err
	}
	t, dup, err := a.intake.Submit(ctx, m)
	if err != nil {
		p := problemOf(err)
		p.Reply = courtesy(err, chat.Language(m.Text, m.Locale))
		return nil, p
	}
	out := &submitOutput{
		Status: http.StatusAccepted, Location: "/v1/tickets/" + t.ID, Body: receipt(&t, a.deps.Line),
	}
	if dup {
		out.Status = http.StatusOK
	}
	return out, nil
}

// message makes a Message of what the schema let through.
func (in *submitInput) message(tenant chat.Tenant) (Message, error) {
	b := in.Body
	m := Message{
		Tenant: tenant, Session: b.SessionID, Text: b.Message, Locale: b.Locale, Phone: b.Phone,
		CallbackURL: b.CallbackURL, Lane: chat.Lane(b.Lane), Metadata: b.Metadata,
	}
	if b.Customer != nil {
		m.Customer = &chat.Customer{ID: b.Customer.ID, Name: b.Customer.Name}
	}
	if b.MaxWait != "" {
		wait, err := time.ParseDuration(b.MaxWait)
		if err != nil || wait <= 0 {
			return m, chat.Bad("max_wait", "must be a duration such as 8s")
		}
		m.MaxWait = wait
	}
	if in.Key == "" {
		return m, nil
	}
	if err := checkKey(in.Key); err != nil {
		return m, err
	}
	// Hashed as understood, not as sent: white space and the order of fields make no
	// other request.
	body, err := json.Marshal(b)
	if err != nil {
		return m, fmt.Errorf("encode body: %w", err)
	}
	sum := sha256.Sum256(body)
	m.Claim = queue.Claim{Key: "http " + in.Key, Body: hex.EncodeToString(sum[:])}
	return m, nil
}

func checkKey(key string) error {
	if len(key) > maxKey {
		return chat.Bad("Idempotency-Key", "must hold at most %d characters", maxKey)
	}
	for _, b := range []byte(key) {
		if b < ' ' || b > '~' {
			return chat.Bad("Idempotency-Key", "must hold printable ASCII characters only")
		}
	}
	return nil
}
