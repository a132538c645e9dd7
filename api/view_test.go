package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/chat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds got against a file of testdata.
func golden(t *testing.T, name string, got any) {
	t.Helper()
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must(t, enc.Encode(got))
	file := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(file, raw.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(raw.Bytes(), want) {
		t.Errorf("%s: got\n%s", file, raw.Bytes())
	}
}

// standing is a line in which every ticket stands.
type standing struct{ frontLine }

func (standing) Standing(string) (int, time.Duration, bool) { return 1, 0, true }

func TestTicketJSON(t *testing.T) {
	t.Parallel()
	at := func(ms int) *time.Time {
		when := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
		return &when
	}
	waiting := chat.Ticket{
		ID: "t_AAAAAAAAAAAAAAAAAAAAAAAAAA", Tenant: "demo", Session: "s1", Lane: chat.Normal, Status: chat.Accepting,
		Message: "hello", CMID: "c1", Language: "en", Phone: "+8613800138000", CallbackURL: "https://shop.example/",
		Customer: &chat.Customer{ID: "7"}, Metadata: map[string]string{"order": "1"}, Intent: "other",
		AcceptedAt: *at(0), Deadline: *at(10_000), LaneSeq: 5, Seq: 3,
	}
	golden(t, "queued.json", view(&waiting, standing{}))
	golden(t, "receipt.json", receipt(&waiting, standing{}))
	running := waiting
	running.Status, running.Attempts, running.DecidedAt, running.StartedAt = chat.Running, 1, at(1200), at(1200)
	golden(t, "running.json", view(&running, standing{}))
	answered := running
	answered.Metadata = nil
	answered.Answer(chat.Answer{
		Reply: chat.Reply{Text: "*Yes*", HTML: "<p><em>Yes</em></p>", Locale: "en"}, Route: chat.RouteFAQ,
		Reason: chat.ReasonVendorUnavailable, Vendor: "a", Model: "model-l", Usage: &chat.Usage{PromptTokens: 10, CompletionTokens: 2},
	}, *at(3500))
	answered.Urgent, answered.Level = true, 2
	golden(t, "answered.json", view(&answered, standing{}))
	cancelled := waiting
	cancelled.Cancel(chat.ReasonCustomer, *at(900))
	golden(t, "cancelled.json", view(&cancelled, standing{}))
	full := problemOf(&chat.Error{Kind: chat.Overloaded, Code: codeQueueFull, Detail: "the lane is full", RetryAfter: 1500 * time.Millisecond})
	full.Reply = courtesy(&chat.Error{Kind: chat.Overloaded}, chat.English)
	golden(t, "queue_full.json", full)
	golden(t, "invalid.json", problemOf(chat.Bad("phone", "must be an E.164 number")))
}
