package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// step is one thing that happens to the line, some time after the one before.
type step struct {
	After   int // milliseconds
	Do      string
	Session int
	Pick    int
	Lane    chat.Lane
	Wait    int // seconds of max_wait
	Urgent  bool
	Point   queue.Point
}

func drawSteps(t *rapid.T) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			After:   rapid.SampledFrom([]int{0, 0, 0, 1, 20, 300, 1500}).Draw(t, "after"),
			Do:      rapid.SampledFrom([]string{"ask", "ask", "ask", "ask", "again", "cancel", "requeue", "stop", "die", "broker", "fail", "heal"}).Draw(t, "do"),
			Session: rapid.IntRange(0, 3).Draw(t, "session"),
			Pick:    rapid.IntRange(0, 20).Draw(t, "pick"),
			Lane:    rapid.SampledFrom([]chat.Lane{chat.High, chat.Normal, chat.Normal, chat.Low}).Draw(t, "lane"),
			Wait:    rapid.SampledFrom([]int{1, 5, 10, 15}).Draw(t, "wait"),
			Urgent:  rapid.IntRange(0, 5).Draw(t, "urgent") == 0,
			Point:   rapid.SampledFrom(queue.Points()).Draw(t, "point"),
		}
	}), 5, 40).Draw(t, "steps")
}

// trial plays steps on a world and remembers what was promised to callers.
type trial struct {
	w        *world
	l        *life
	asked    []chat.Ticket // with the ids that callers hold
	accepted map[string]bool
	requeued map[string]string // dead letter → its new ticket
	dead     []*life
}

// TestTheLineKeepsItsPromises plays random histories: submits, repeats of submits,
// cancels, requeues, orderly stops, deaths at every named write point, broker restarts and
// vendor failures. Whatever happened, each accepted ticket has one end and one final event,
// events are gapless, a session never ran two tickets at once, every prompt holds the
// earlier answers, a dead letter became one new ticket or is there still, and no permit
// is left.
func TestTheLineKeepsItsPromises(t *testing.T) {
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		deliver, steps := rapid.SampledFrom([]int{1, 2, 5}).Draw(rt, "max_deliver"), drawSteps(rt)
		if played++; played > histories {
			return
		}
		var fault error
		queuetest.Bubble(t, func(t *testing.T) { fault = playTrial(t, deliver, steps) })
		if fault != nil {
			played = 0 // what follows looks for a shorter one
			rt.Fatal(fault)
		}
	})
}

func playTrial(t *testing.T, deliver int, steps []step) error {
	tr := &trial{
		w:        newWorld(t, testRules(t, fmt.Sprintf("%smax_deliver: %d\n", smallRules, deliver)), sim.Behaviour{}),
		accepted: map[string]bool{}, requeued: map[string]string{},
	}
	tr.l = tr.w.live()
	for _, s := range steps {
		time.Sleep(time.Duration(s.After) * time.Millisecond)
		tr.play(s)
		select {
		case <-tr.l.crashed:
			tr.rebirth()
		default:
		}
	}
	tr.l.armed("", 0)
	select {
	case <-tr.l.crashed:
		tr.rebirth()
	default:
	}
	tr.heal()
	fault := tr.verify()
	tr.l.stop()
	for _, l := range tr.dead {
		l.bury()
	}
	tr.w.close()
	return fault
}

func (tr *trial) play(s step) {
	switch s.Do {
	case "ask":
		t := tr.w.ask(fmt.Sprintf("s%d", s.Session), fmt.Sprintf("Question %d: where is order %d?", len(tr.asked), 1000+len(tr.asked)),
			s.Lane, time.Duration(s.Wait)*time.Second)
		t.Urgent = s.Urgent
		tr.asked = append(tr.asked, t)
		tr.submit(t)
	case "again":
		if len(tr.asked) > 0 {
			tr.submit(tr.asked[s.Pick%len(tr.asked)])
		}
	case "cancel":
		if len(tr.asked) > 0 {
			id := tr.asked[s.Pick%len(tr.asked)].ID
			_, _ = tr.l.queue.Cancel(tr.w.t.Context(), id, chat.ReasonCustomer, time.Now())
		}
	case "requeue":
		if letters := tr.letters(); len(letters) > 0 {
			tr.requeue(letters[s.Pick%len(letters)])
		}
	case "stop":
		tr.l.stop()
		tr.l = tr.w.live()
	case "die":
		tr.l.armed(s.Point, s.Pick%3)
	case "broker":
		tr.l.kill()
		tr.dead = append(tr.dead, tr.l)
		queuetest.Stop(tr.w.broker)
		tr.w.startBroker()
		tr.l = tr.w.live()
	case "fail":
		tr.behave(sim.Behaviour{ErrorShare: 0.3, TruncateShare: 0.2, RefuseShare: 0.2, HangShare: 0.1})
	case "heal":
		tr.heal()
	}
}

// submit accepts a ticket under its own key, as a caller does who repeats a request.
func (tr *trial) submit(t chat.Ticket) {
	got, _, err := tr.l.queue.Accept(tr.w.t.Context(), t, queue.Claim{Key: t.ID, Body: t.Message})
	if err == nil {
		tr.accepted[got.ID] = true
	} else if !errors.Is(err, errDead) {
		tr.w.t.Errorf("accept: %v", err)
	}
}

// letters returns the dead letters, as far as a process that may be dead can read them.
func (tr *trial) letters() (ids []string) {
	letters, err := tr.l.queue.DeadLetters(tr.w.t.Context(), 0, 1000)
	if err != nil {
		tr.w.t.Errorf("read dead letters: %v", err)
	}
	for _, l := range letters {
		ids = append(ids, l.ID)
	}
	return ids
}

// requeue requeues a dead letter, as an operator does who repeats it after a failure.
func (tr *trial) requeue(letter string) {
	got, _, err := tr.l.queue.RequeueDead(tr.w.t.Context(), letter, time.Now())
	switch first, before := tr.requeued[letter]; {
	case errors.Is(err, errDead):
	case err != nil:
		tr.w.t.Errorf("requeue: %v", err)
	case before && first != got.ID:
		tr.w.t.Errorf("letter %s was requeued as %s and as %s", letter, first, got.ID)
	case !before:
		tr.requeued[letter], tr.accepted[got.ID] = got.ID, true
		tr.asked = append(tr.asked, got)
	}
}

func (tr *trial) rebirth() {
	tr.l.kill()
	tr.dead = append(tr.dead, tr.l)
	tr.l = tr.w.live()
}

func (tr *trial) heal() { tr.behave(sim.Behaviour{}) }

func (tr *trial) behave(b sim.Behaviour) {
	for _, v := range tr.w.vendors {
		if err := v.SetBehaviour(b); err != nil {
			tr.w.t.Error(err)
		}
	}
}

// verify waits for every end, once more after some dead letters were requeued, and then
// checks what must hold.
func (tr *trial) verify() error {
	if _, err := tr.ends(); err != nil {
		return err
	}
	for i, letter := range tr.letters() {
		if i%2 == 0 {
			tr.requeue(letter)
		}
	}
	tickets, err := tr.ends()
	if err != nil {
		return err
	}
	time.Sleep(30 * time.Second) // the last steps of ends that were cut short
	return errors.Join(
		tr.checkEvents(tickets), tr.checkLetters(tickets), tr.checkLanes(), tr.checkPermits(), tr.checkTurns())
}

// ends waits until every accepted ticket has ended, and returns them.
func (tr *trial) ends() (map[string]chat.Ticket, error) {
	tickets := map[string]chat.Ticket{}
	end := time.Now().Add(4 * time.Minute)
	for id := range tr.accepted {
		for {
			s, err := tr.l.queue.Ticket(tr.w.t.Context(), id)
			if err == nil && s.Status.Ended() {
				tickets[id] = s.Ticket
				break
			}
			if time.Now().After(end) {
				return nil, fmt.Errorf("ticket %s has no end: %v, %v", id, s.Status, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return tickets, nil
}

func (tr *trial) checkEvents(tickets map[string]chat.Ticket) error {
	finals := map[string]int{}
	for i := range 4 {
		session := fmt.Sprintf("s%d", i)
		events, _, _, err := tr.l.queue.Events(tr.w.t.Context(), "demo", session, 0, 10_000)
		if err != nil {
			return err
		}
		for n, e := range events {
			if e.Seq != uint64(n+1) {
				return fmt.Errorf("session %s: event %d has seq %d:%s", session, n+1, e.Seq, fmtEvents(events))
			}
			if e.Status.Ended() {
				finals[e.Ticket]++
			}
		}
		if err := tr.checkPrompts(events); err != nil {
			return fmt.Errorf("session %s: %w:%s", session, err, fmtEvents(events))
		}
	}
	for id, t := range tickets {
		if finals[id] != 1 {
			return fmt.Errorf("ticket %s (%s) has %d final events", id, t.Status, finals[id])
		}
	}
	return nil
}

// checkLetters finishes requeues that were cut short, and then looks for the letters of
// all dead tickets that were not requeued, and for no others.
func (tr *trial) checkLetters(tickets map[string]chat.Ticket) error {
	for _, letter := range tr.letters() {
		if _, requeued := tr.requeued[letter]; requeued {
			tr.requeue(letter)
		}
	}
	kept := map[string]bool{}
	for _, letter := range tr.letters() {
		kept[letter] = true
	}
	for id, t := range tickets {
		_, requeued := tr.requeued[id]
		if want := t.Dead && !requeued; kept[id] != want {
			return fmt.Errorf("ticket %s: dead %v, requeued %v, its letter is there: %v", id, t.Dead, requeued, kept[id])
		}
		delete(kept, id)
	}
	if len(kept) > 0 {
		return fmt.Errorf("letters of tickets that nobody was promised: %v", kept)
	}
	return nil
}

// checkPrompts looks at what the vendors were asked: every prompt for a question that is
// not urgent holds the answers to all earlier questions of its session. Of a question
// that was requeued the first asking counts.
func (tr *trial) checkPrompts(events []chat.Event) error {
	asked, answers, first := map[string]chat.Event{}, map[string]chat.Event{}, map[string]string{}
	for _, e := range events {
		switch e.Who {
		case chat.ByCustomer:
			asked[e.Ticket] = e
			if _, before := first[e.Text]; !before {
				first[e.Text] = e.Ticket
			}
		case chat.ByBot:
			answers[e.Ticket] = e
		}
	}
	for _, v := range tr.w.vendors {
		for _, p := range v.Prompts() {
			question := p.Messages[len(p.Messages)-1].Content
			for id, q := range asked {
				if q.Text != question || first[q.Text] != id || tr.urgent(id) {
					continue
				}
				for other, a := range answers {
					if asked[other].Seq < q.Seq && !holds(p, a.Text) {
						return fmt.Errorf("a prompt for seq %d lacks the answer of seq %d", q.Seq, a.Seq)
					}
				}
			}
		}
	}
	return nil
}

func (tr *trial) urgent(id string) bool {
	for _, t := range tr.asked {
		if t.ID == id {
			return t.Urgent
		}
	}
	return false
}

func holds(p sim.Prompt, text string) bool {
	for _, m := range p.Messages {
		if strings.Contains(m.Content, text) {
			return true
		}
	}
	return false
}

func (tr *trial) checkLanes() error {
	for _, lane := range chat.Lanes() {
		if depth, err := tr.l.queue.Depth(tr.w.t.Context(), lane); err != nil || depth != 0 {
			return fmt.Errorf("lane %s holds %d messages at rest (%v)", lane, depth, err)
		}
	}
	return nil
}

func (tr *trial) checkPermits() error {
	for _, v := range tr.l.line.control.Vendors() {
		if v.InUse != 0 {
			return fmt.Errorf("vendor %s has %d permits in use at rest", v.Name, v.InUse)
		}
		stats := tr.w.vendors[v.Name].Stats()
		if stats.MaxInFlight > stats.Quota || stats.Refused > 0 {
			return fmt.Errorf("vendor %s saw %d calls at once of a quota of %d, refused %d", v.Name, stats.MaxInFlight, stats.Quota, stats.Refused)
		}
		if stats.InFlight != 0 {
			return fmt.Errorf("vendor %s still has %d calls", v.Name, stats.InFlight)
		}
	}
	return nil
}

// checkTurns finds tickets of one session that ran at the same time. Urgent ones too
// wait for the turn.
func (tr *trial) checkTurns() error {
	for i, a := range tr.asked {
		for _, b := range tr.asked[:i] {
			x, errX := tr.l.queue.Ticket(tr.w.t.Context(), a.ID)
			y, errY := tr.l.queue.Ticket(tr.w.t.Context(), b.ID)
			if errX != nil || errY != nil || a.Session != b.Session || x.StartedAt == nil || y.StartedAt == nil {
				continue
			}
			if x.StartedAt.Before(*y.EndedAt) && y.StartedAt.Before(*x.EndedAt) {
				return fmt.Errorf("tickets %s and %s of %s ran at once", a.ID, b.ID, a.Session)
			}
		}
	}
	return nil
}
