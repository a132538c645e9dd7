package chat

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

// fullTicket has every field set.
func fullTicket() Ticket {
	later := noon.Add(1500 * time.Millisecond)
	return Ticket{
		ID: "t_AAAAAAAAAAAAAAAAAAAAAAAAAA", Tenant: "demo", Session: "s_BBBBBBBBBBBBBBBBBBBBBBBBBB", Lane: High, Status: Queued,
		Message: "我的订单 <1234> & \"more\"", CMID: "c1", Language: Chinese, Phone: "+8613800138000", CallbackURL: "https://shop.example/a?b=1&c=2",
		Customer: &Customer{ID: "42", Name: "Li"}, Metadata: map[string]string{"shop": "1", "page": "cart"}, Intent: "complaint", Urgent: true,
		Entities: []Entity{{Kind: EntityOrder, Value: "1234", Start: 14, End: 18}}, Mood: MoodAngry, Turn: 2,
		AcceptedAt: noon, Deadline: noon.Add(10 * time.Second), DecidedAt: &later, StartedAt: &later,
		LaneSeq: 7, Seq: 3, Attempts: 1,
	}
}

func answer() Answer {
	return Answer{
		Reply: Reply{Text: "**好**", HTML: "<p><strong>好</strong></p>", Locale: Chinese, Sources: []Source{{Title: "FAQ", URL: "https://shop.example/faq"}, {Title: "Terms"}}},
		Route: RouteRAG, Reason: ReasonOverdue, Vendor: "a", Model: "m", Usage: &Usage{PromptTokens: 120, CompletionTokens: 30},
	}
}

func wire() map[string]any {
	fresh := Ticket{ID: "t_AAAAAAAAAAAAAAAAAAAAAAAAAA", Tenant: "demo", Session: "s", Lane: Normal, Status: Accepting, Message: "hello", Language: English, Intent: "other", AcceptedAt: noon, Deadline: noon}
	done, cancelled := fullTicket(), fullTicket()
	done.Answer(answer(), noon.Add(2*time.Second))
	cancelled.Cancel(ReasonCustomer, noon.Add(2*time.Second))
	dead := fullTicket()
	dead.RetryOf, dead.Dead = "t_CCCCCCCCCCCCCCCCCCCCCCCCCC", true
	dead.Fail("its holder died or left it", noon.Add(12*time.Second))
	dead.Answer(Answer{Reply: Reply{Text: "Later.", HTML: "<p>Later.</p>", Locale: English, Sources: []Source{}}, Route: RouteTemplate, Reason: ReasonError}, noon.Add(13*time.Second))
	offered := fullTicket()
	offered.Answer(Answer{
		Reply: Reply{Text: "1. 几点?", HTML: "<ol><li>几点?</li></ol>", Locale: Chinese, Sources: []Source{}, Choices: []Choice{{ID: "hours", Text: "几点?"}}},
		Route: RouteFAQ, Reason: ReasonPredictedWait,
	}, noon.Add(2*time.Second))
	promising := fullTicket()
	owed := Promise{Channel: ChannelSMS, Status: Promised, DueAt: noon.Add(30 * time.Minute)}
	promising.Answer(Answer{
		Reply: Reply{Text: "Later.", HTML: "<p>Later.</p>", Locale: English, Sources: []Source{}}, Route: RouteTemplate,
		Reason: ReasonOverdue, FollowUp: FollowUpID(promising.ID), Promise: &owed,
	}, noon.Add(10*time.Second))
	followUp := promising.FollowUpTo(noon, 30*time.Minute)
	in := done.InEvent()
	in.Seq = 3
	return map[string]any{
		"ticket_fresh": fresh, "ticket_answered": done, "ticket_cancelled": cancelled, "ticket_dead": dead,
		"ticket_offered": offered, "event_offered": offered.FinalEvent(), "event_in": in, "event_answered": done.FinalEvent(), "event_cancelled": cancelled.FinalEvent(),
		"ticket_promising": promising, "ticket_follow_up": followUp,
		"event_promise": PromiseEvent(followUp.ID, promising.ID, owed, noon),
		"event_rating":  done.RatingEvent(Rating{Score: 4, Comment: "quick"}, noon),
		"typing":        Typing{Who: ByBot, Ticket: done.ID}.On(true),
		"delta":         Delta{Ticket: done.ID, Attempt: 2, I: 0, Text: " piece\n"},
	}
}

// TestWireFormat pins the stored and sent form of every noun: a running cluster reads
// what an older version wrote.
func TestWireFormat(t *testing.T) {
	t.Parallel()
	for name, v := range wire() {
		got, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		path := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s, want\n%s", name, got, want)
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(want, back.Interface()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Elem().Interface(), v) {
			t.Errorf("%s comes back as %+v, want %+v", name, back.Elem(), v)
		}
	}
}

func TestAnAnswerKeepsWhenItWasDecided(t *testing.T) {
	t.Parallel()
	running, waiting := fullTicket(), fullTicket()
	waiting.DecidedAt, waiting.StartedAt = nil, nil
	decided := *running.DecidedAt
	end := noon.Add(5 * time.Second)
	running.Answer(answer(), end)
	waiting.Answer(answer(), end)
	if !running.DecidedAt.Equal(decided) || !running.EndedAt.Equal(end) {
		t.Errorf("decided at %s, ended at %s", running.DecidedAt, running.EndedAt)
	}
	if !waiting.DecidedAt.Equal(end) || waiting.StartedAt != nil {
		t.Errorf("answered without a vendor: decided at %s", waiting.DecidedAt)
	}
}

func TestOnlyEndsAreEnds(t *testing.T) {
	t.Parallel()
	for status, want := range map[Status]bool{Accepting: false, Queued: false, Running: false, Answered: true, Failed: true, Cancelled: true, "": false} {
		if status.Ended() != want {
			t.Errorf("%q ended: %v", status, !want)
		}
	}
}
