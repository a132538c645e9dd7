package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
)

var errKilled = errors.New("killed here")

// mortal is a process that takes, feeds and answers batches until it is killed before one
// of its writes; then nothing that it tries is written.
type mortal struct {
	*API
	queue *queue.Queue
	point queue.Point    // where it dies
	told  map[string]int // batch → how often it was told of

	mu    sync.Mutex
	after int // so many writes of that name it survives
	dead  bool
}

func newMortal(t *testing.T, nc *nats.Conn, point queue.Point, after int, told map[string]int) *mortal {
	t.Helper()
	m := &mortal{point: point, after: after, told: told}
	bounds, limits := map[chat.Lane]int{}, map[chat.Lane]rules.Lane{}
	for _, l := range chat.Lanes() {
		bounds[l], limits[l] = 3, rules.Lane{Bound: 3, MaxWait: 15 * time.Minute}
	}
	var err error
	m.queue, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Fresh: true, Before: m.before, Log: zerolog.Nop()})
	must(t, err)
	live := &rules.Rules{Lanes: limits}
	m.API, err = New(Deps{
		Queue: m.queue, Rules: func() *rules.Rules { return live }, Classify: classifyByWord, Line: frontLine{}, Log: zerolog.Nop(),
		BatchEnded: func(_ context.Context, b queue.Batch) error { m.told[b.ID]++; return nil },
	}, Config{})
	must(t, err)
	return m
}

func (m *mortal) before(p queue.Point, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p == m.point && m.after == 0 {
		m.dead = true
	}
	if p == m.point {
		m.after--
	}
	if m.dead {
		return errKilled
	}
	return nil
}

// send hands a batch in under a key, as a caller would.
func (m *mortal) send(t *testing.T, body string) (queue.Batch, error) {
	up := newUpload(m.queue, chat.Tenant{Name: "demo", Lane: chat.High}, m.deps.Rules().Lanes)
	b, dup, err := m.acceptBatch(t.Context(), "key", up, strings.NewReader(body))
	if (err != nil || dup) && !m.dead {
		m.dropSpool(t.Context(), up)
	}
	return b, err
}

// answer answers up to n jobs of the lane.
func (m *mortal) answer(t *testing.T, n int) {
	for range n {
		var job *queue.Job
		if m.dead || m.queue.Pull(t.Context(), chat.Batch, 1, 60*time.Millisecond, func(j *queue.Job) { job = j }) != nil || job == nil {
			return
		}
		s, err := m.queue.Admit(t.Context(), job)
		if err == nil {
			s, err = m.queue.Take(t.Context(), s, time.Now())
		}
		if err == nil {
			s.Ticket.Answer(chat.Answer{Reply: chat.Reply{Text: "yes"}, Route: chat.RouteAgent}, time.Now())
			_, err = m.queue.End(t.Context(), job, s)
		}
		if err != nil && !m.dead {
			job.HandBack(0)
		}
	}
}

// batchPoints are the writes that a batch comes to, with those of its lines.
func batchPoints() []queue.Point {
	return append(queue.BatchPoints(), queue.IntakeTicket, queue.IntakeLane, queue.IntakeQueued, queue.TakeTicket,
		queue.EndTicket, queue.EndStory, queue.EndLane, queue.CancelTicket, queue.CancelStory, queue.CancelLane)
}

// TestABatchSurvivesADeathBeforeEachWrite kills the process before each named write, the
// first one of that name and, of a line's, also a later one, of a batch that is answered or
// cancelled in the middle. The caller repeats what had no answer, another process goes on,
// and each line has ended once: one story each, and counts that say the same.
func TestABatchSurvivesADeathBeforeEachWrite(t *testing.T) {
	for _, point := range batchPoints() {
		play := func(after int, cancelled bool) {
			name := fmt.Sprintf("%s after %d, cancelled %v", point, after, cancelled)
			queuetest.Bubble(t, func(t *testing.T) { liveThrough(t, name, point, after, cancelled) })
		}
		stops := point == queue.BatchStop || strings.HasPrefix(string(point), "cancel.")
		play(0, stops)
		if !strings.HasPrefix(string(point), "batch.") { // a line's: another line's turn
			play(2, true)
		}
	}
}

func liveThrough(t *testing.T, name string, point queue.Point, after int, cancelled bool) {
	const lines = 7
	server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
	must(t, err)
	defer queuetest.Stop(server)
	nc, err := server.Dial()
	must(t, err)
	defer nc.Close()
	told := map[string]int{}
	m := newMortal(t, nc, point, after, told)
	body := ndjson(lines, nil)
	var b queue.Batch
	for round := 0; round < 40; round++ {
		if m.dead { // its successor comes, with nothing in hand
			<-time.After(time.Second)
			m = newMortal(t, nc, "", 0, told)
		}
		if b, err = m.send(t, body); err != nil {
			continue
		}
		_ = m.batches.look(t.Context()) // a dead one's errors say nothing
		m.answer(t, 2)
		if cancelled && round == 1 && !m.dead {
			_, _ = m.queue.StopBatch(t.Context(), b.ID, chat.ReasonCustomer, time.Now())
			if m.dead {
				round--
			}
		}
		if open, err := m.queue.OpenBatches(t.Context()); err == nil && len(open) == 0 && !m.dead {
			break
		}
		<-time.After(time.Second)
	}
	if m.dead {
		t.Fatalf("%s: it died at its end", name)
	}
	must(t, m.batches.sweep(t.Context()))
	m.checkLines(t, name, b.ID, lines, nc)
	if told[b.ID] < 1 || len(told) != 1 {
		t.Errorf("%s: told of %v", name, told)
	}
}

// checkLines compares what the batch says with the stories that were told of its lines.
func (m *mortal) checkLines(t *testing.T, name, id string, lines int, nc *nats.Conn) {
	t.Helper()
	b, err := m.queue.Batch(t.Context(), id)
	must(t, err)
	counts, err := m.queue.CountLines(t.Context(), b)
	must(t, err)
	var stories queue.LineCounts
	var places []int
	records, err := m.queue.Records(t.Context(), queue.Stories, 100, time.Second)
	must(t, err)
	for _, r := range records {
		var one chat.Ticket
		must(t, json.Unmarshal(r.Ticket, &one))
		places = append(places, one.Line)
		switch one.Status {
		case chat.Answered:
			stories.Answered++
		case chat.Cancelled:
			stories.Cancelled++
		}
		if now, err := m.queue.Ticket(t.Context(), one.ID); err != nil || now.Status != one.Status || one.CustomID != fmt.Sprintf("c-%d", one.Line) {
			t.Errorf("%s: line %d ended %s and is %s (%v)", name, one.Line, one.Status, now.Status, err)
		}
	}
	slices.Sort(places)
	if fmt.Sprint(places) != "[1 2 3 4 5 6 7]" || b.EndedAt == nil || counts != stories || counts.Ended() != lines {
		t.Errorf("%s: stories of lines %v: %+v; the batch counts %+v, ended %v", name, places, stories, counts, b.EndedAt)
	}
	for what, subject := range map[string]string{"LANE_BATCH": "the lane", "SPOOL": "the spool", "TALK": "the talk log"} {
		var info struct{ State struct{ Messages int } }
		msg, err := nc.RequestWithContext(t.Context(), "$JS.API.STREAM.INFO."+what, nil)
		must(t, err)
		if must(t, json.Unmarshal(msg.Data, &info)); info.State.Messages != 0 {
			t.Errorf("%s: %d messages are left in %s", name, info.State.Messages, subject)
		}
	}
}

func TestABatchExpires(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		must(t, err)
		defer queuetest.Stop(server)
		nc, err := server.Dial()
		must(t, err)
		defer nc.Close()
		told := map[string]int{}
		m := newMortal(t, nc, "", 0, told)
		two := make([]queue.Batch, 2)
		for i := range two {
			up := newUpload(m.queue, chat.Tenant{Name: fmt.Sprintf("tenant-%d", i), Lane: chat.High}, m.deps.Rules().Lanes)
			two[i], _, err = m.acceptBatch(t.Context(), "", up, strings.NewReader(ndjson(60+5*i, nil)))
			must(t, err)
		}
		stray := newUpload(m.queue, chat.Tenant{Name: "demo", Lane: chat.High}, m.deps.Rules().Lanes)
		must(t, stray.read(t.Context(), strings.NewReader(ndjson(2, nil)))) // its process died here
		must(t, m.batches.look(t.Context()))
		m.answer(t, 3)
		must(t, m.batches.look(t.Context())) // the lane takes three
		fed := 0
		for i, b := range two {
			if b, err = m.queue.Batch(t.Context(), b.ID); err != nil || b.Status() != chat.BatchInProgress {
				t.Fatalf("batch %d: %+v, %v", i, b, err)
			}
			fed += b.Cursor
		}
		if fed != 6 {
			t.Errorf("%d lines have tickets, want the three that were answered and three more", fed)
		}
		<-time.After(15 * time.Minute)
		for range 20 {
			must(t, m.batches.look(t.Context()))
		}
		must(t, m.batches.sweep(t.Context()))
		for i, b := range two {
			if b, err = m.queue.Batch(t.Context(), b.ID); err != nil {
				t.Fatal(err)
			}
			if b.Status() != chat.BatchExpired || !b.Told || b.EndedAt == nil || b.Before.Ended() != b.Total || told[b.ID] != 1 {
				t.Errorf("batch %d, told %v: %+v", i, told, b)
			}
			if s, err := m.queue.Ticket(t.Context(), chat.LineTicketID(b.ID, b.Total)); err != nil || s.Reason != chat.ReasonOverdue || s.CustomID != fmt.Sprintf("c-%d", b.Total) {
				t.Errorf("the last line: %+v, %v", s.Ticket, err)
			}
		}
		if left, err := m.queue.SweepSpools(t.Context(), time.Now()); err != nil || left != 0 {
			t.Errorf("%d spools were left (%v)", left, err)
		}
		open, err := m.queue.OpenBatches(t.Context())
		if err != nil || len(open) != 0 {
			t.Errorf("open: %v, %v", open, err)
		}
	})
}
