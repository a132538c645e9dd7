package api

import (
	"context"
	"encoding/csv"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
)

// The most rows of a table, how many are read together, and how long a reader may take over
// them.
const (
	exportRows    = 100_000
	exportBlock   = 500
	exportTimeout = 30 * time.Second
)

const mediaCSV = "text/csv"

// exportColumns is the head of the table.
var exportColumns = []string{
	"ticket_id", "tenant", "session_id", "lane", "status", "intent", "urgent", "route", "level", "reason", "vendor", "model", "attempts",
	"accepted_at", "started_at", "ended_at", "queued_ms", "handled_ms", "retry_of", "parent", "batch_id", "line", "custom_id", "message", "reply",
}

type exportInput struct{ TicketQuery }

func (a *API) registerTicketExport(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-export-tickets", Method: http.MethodGet, Path: "tickets.csv", Summary: "Write tickets into a table",
		Description: "What a search with the same parameters finds, at most 100,000 rows, newest first. A cell that a spreadsheet would take for a " +
			"formula begins with an apostrophe. 503 where the history does not answer: the table would not be whole.",
	}, []int{400}, a.exportTickets)
	ok := api.OpenAPI().Paths[adminPath+"tickets.csv"].Get.Responses["200"]
	ok.Content = map[string]*huma.MediaType{mediaCSV: {Schema: &huma.Schema{Type: huma.TypeString}}}
}

func (a *API) exportTickets(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.ID != "" {
		return nil, chat.Bad("id", "is for a search; read the ticket itself")
	}
	s, err := a.deepSearch(ctx, in.filter(), chat.TicketMark{})
	if err != nil {
		return nil, err
	}
	// The first ones are read before anything is answered, so that a fault is told as one.
	first, err := s.next(ctx, exportBlock)
	if err == nil && s.away != nil {
		err = errHistory(s.away)
	}
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", mediaCSV+"; charset=utf-8")
		hc.SetHeader("Content-Disposition", `attachment; filename="tickets.csv"`)
		hc.SetStatus(http.StatusOK)
		a.streamTable(hc, s, first)
	}}, nil
}

// streamTable writes block after block. A fault on the way cuts the answer, so that it is
// not taken for a whole one.
func (a *API) streamTable(hc huma.Context, s *search, block []chat.Ticket) {
	w := http.NewResponseController(humaecho.Unwrap(hc).Response())
	out := csv.NewWriter(hc.BodyWriter())
	_ = out.Write(exportColumns) // its error comes with the flush
	for rows := 0; len(block) > 0 && rows < exportRows; {
		_ = w.SetWriteDeadline(time.Now().Add(exportTimeout))
		for i := range block[:min(len(block), exportRows-rows)] {
			_ = out.Write(tableRow(&block[i]))
			rows++
		}
		if out.Flush(); out.Error() != nil || w.Flush() != nil {
			return // the reader has gone
		}
		var err error
		if block, err = s.next(hc.Context(), exportBlock); err == nil && s.away != nil {
			err = s.away
		}
		if err != nil {
			a.deps.Log.Warn().Err(err).Str("stage", "api").Msg("a table of tickets is cut")
			panic(http.ErrAbortHandler)
		}
	}
	out.Flush()
}

// tableRow writes a ticket under exportColumns.
func tableRow(t *chat.Ticket) []string {
	reply := ""
	if t.Reply != nil {
		reply = t.Reply.Text
	}
	row := []string{
		t.ID, t.Tenant, t.Session, string(t.Lane), string(shown(t.Status)), t.Intent, strconv.FormatBool(t.Urgent), string(t.Route),
		strconv.Itoa(t.Level), string(t.Reason), t.Vendor, t.Model, strconv.Itoa(t.Attempts),
		instant(&t.AcceptedAt), instant(t.StartedAt), instant(t.EndedAt),
		milliseconds(between(&t.AcceptedAt, t.DecidedAt)), milliseconds(between(t.DecidedAt, t.EndedAt)),
		t.RetryOf, t.Parent, t.Batch, strconv.Itoa(t.Line), t.CustomID, t.Message, reply,
	}
	for i := range row {
		row[i] = cell(row[i])
	}
	return row
}

func instant(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

func milliseconds(ms *int64) string {
	if ms == nil {
		return ""
	}
	return strconv.FormatInt(*ms, 10)
}
