package api

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// locked is a log that many write.
type locked struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func TestARatingIsAnEventOfEveryTabAndOfThePoll(t *testing.T) {
	t.Parallel()
	log := &locked{}
	r := socketRigOn(setup(t, func(d *Deps, _ *Config, _ *queue.Config) { d.Log = zerolog.New(log) }), nil, SocketConfig{})
	one, welcome := r.hello(nil)
	two, _ := r.hello(again(welcome, 0))
	one.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	_, ack := one.pair()
	rate := func(c *client, score int, comment string) {
		c.say(frame{"type": "rate", "ticket": ack.text("ticket"), "score": score, "comment": comment})
	}
	rate(one, 4, "")
	if e := one.hear("error"); e.text("code") != codeNotAnswered || e["temporary"] != false {
		t.Errorf("before the answer: %v", e)
	}
	job, s := r.take(chat.High)
	r.end(job, s)
	rate(one, 4, "my neighbour said so")
	rate(one, 4, "my neighbour said so") // lost on its way, for all that the client knows
	for _, c := range []*client{one, two} {
		for seq := 0; seq != 3; {
			e := c.hear("event")
			if seq = e.number("seq"); seq != 3 {
				continue
			}
			rating, _ := e["rating"].(map[string]any)
			if e.text("kind") != "rating" || e.text("ticket") != s.ID || rating["score"] != 4.0 || rating["comment"] != "my neighbour said so" {
				t.Errorf("event %v", e)
			}
		}
	}
	rate(two, 1, "")
	if e := two.hear("error"); e.text("code") != codeRated {
		t.Errorf("another rating: %v", e)
	}
	stranger, _ := r.hello(nil)
	rate(stranger, 1, "")
	if e := stranger.hear("error"); e.text("code") != codeNotFound {
		t.Errorf("a rating from another session: %v", e)
	}
	for _, key := range []string{r.demo.Secret, welcome.text("token")} {
		got := r.call("GET", "/v1/sessions/"+welcome.text("session")+"/events?after=2", key, "")
		events, _ := got.json["events"].([]any)
		if got.status != 200 || len(events) != 1 || !strings.Contains(string(got.raw), `"rating":{"score":4,"comment":"my neighbour said so"}`) {
			t.Errorf("poll: %d %s", got.status, got.raw)
		}
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if strings.Contains(log.buf.String(), "neighbour") {
		t.Error("the log holds the customer's words")
	}
}
