package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// textStep is one thing that happens to those who send, or to the carrier.
type textStep struct {
	After  int // ms
	Do     string
	Sender int
	Point  queue.Point
	How    int
}

var textBehaviours = []sim.TextBehaviour{
	{},
	{Receipts: []string{"sent", "delivered"}},
	{Receipts: []string{"delivered", "delivered", "sent"}, Late: 15 * time.Second},
	{Receipts: []string{"sent", "undelivered:30003", "delivered"}},
	{Lose: true},
	{Lose: true, Blind: true},
	{Lose: true, Receipts: []string{"sent", "delivered"}},
	{Delay: 40 * time.Second},
	{Delay: 40 * time.Second, Receipts: []string{"odd", "delivered"}},
	{Status: 429, Code: "20429"},
	{Status: 503, Code: "isp.SYSTEM_ERROR"},
	{Status: 400, Code: "21211"},
}

func drawTextSteps(t *rapid.T) []textStep {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) textStep {
		return textStep{
			After:  rapid.SampledFrom([]int{0, 50, 900, 4000, 12_000, 35_000}).Draw(t, "after"),
			Do:     rapid.SampledFrom([]string{"notice", "notice", "notice", "die", "die", "pause", "kill", "stop", "carrier", "carrier", "again"}).Draw(t, "do"),
			Sender: rapid.IntRange(0, 1).Draw(t, "sender"),
			Point:  rapid.SampledFrom(queue.NoticePoints()).Draw(t, "point"),
			How:    rapid.IntRange(0, len(textBehaviours)-1).Draw(t, "how"),
		}
	}), 4, 14).Draw(t, "steps")
}

// TestNoPromiseIsTextedTwice plays random histories of two senders that look after the same
// outbox at once: deaths and pauses at every write, kills in the middle of a request, a
// carrier that takes a message and does not say so, cannot be asked, refuses, or sends its
// receipts late, twice and in any order, and operators who have notices sent again. Whatever
// happened, the carrier has taken no notice twice, but after it has said that the one before
// failed; each notice ends, and its promise and its session know how.
func TestNoPromiseIsTextedTwice(t *testing.T) {
	played := 0
	rapid.Check(t, func(rt *rapid.T) {
		doc := rapid.SampledFrom([]string{twilioRules, aliyunRules}).Draw(rt, "carrier")
		steps := drawTextSteps(rt)
		if played++; played > textHistories {
			return
		}
		var fault error
		queuetest.Bubble(t, func(t *testing.T) { fault = playTexts(newTextWorld(t, doc), steps) })
		if fault != nil {
			played = 0 // what follows looks for a shorter one
			rt.Fatal(fault)
		}
	})
}

// textWait is how long a notice of the histories may take.
const textWait = 100 * time.Second

func playTexts(w *textWorld, steps []textStep) error {
	defer w.close()
	senders := []*texter{w.texter("a"), w.texter("b")}
	var notices []string
	for _, s := range steps {
		time.Sleep(time.Duration(s.After) * time.Millisecond)
		x := senders[s.Sender]
		switch s.Do {
		case "notice":
			session := fmt.Sprintf("s%d", len(notices))
			notices = append(notices, w.notice(session, fmt.Sprintf("+86138001380%02d", len(notices)), chat.English, textWait))
		case "die":
			x.armed(s.Point, 0)
		case "pause":
			x.armed(s.Point, 80*time.Second)
		case "kill":
			x.kill()
		case "stop":
			x.stop()
			senders[s.Sender] = w.texter("again")
		case "carrier":
			w.carrier.Behave(textBehaviours[s.How])
		case "again":
			for _, id := range notices {
				if _, _, err := w.queue.SendAgain(w.t.Context(), id, time.Now().UTC()); err != nil && !errors.Is(err, queue.ErrNotAgain) {
					return err
				}
			}
		}
		for i, x := range senders {
			if x.isDead() {
				x.stop()
				senders[i] = w.texter("reborn")
			}
		}
	}
	w.carrier.Behave(sim.TextBehaviour{})
	for _, x := range senders {
		x.stop()
	}
	last := w.texter("last")
	defer last.stop()
	time.Sleep(textWait + time.Minute)
	for i, id := range notices {
		if err := w.verify(fmt.Sprintf("s%d", i), id); err != nil {
			return fmt.Errorf("notice %d: %w", i, err)
		}
	}
	return nil
}

// verify compares what became of a notice with what its carrier, its promise and its session
// know.
func (w *textWorld) verify(session, id string) error {
	n, owed, told := w.stands(session, id)
	status := map[chat.NoticeState][]chat.PromiseStatus{
		chat.NoticeSent: {chat.PromiseSent, chat.PromiseBroken}, chat.NoticeDelivered: {chat.PromiseDelivered, chat.PromiseBroken},
		chat.NoticeFailed: {chat.PromiseBroken}, chat.NoticeUnknown: {chat.PromiseBroken},
	}[n.State]
	want := []chat.PromiseStatus{chat.Promised, chat.PromiseSent}
	if owed.Status != chat.PromiseSent {
		want = append(want, owed.Status)
	}
	for round := range n.Round + 1 {
		mark := chat.Notice{ID: id, Round: round}
		failed := slices.ContainsFunc(n.Receipts, func(r chat.Receipt) bool { return r.Round == round && r.State == chat.NoticeFailed })
		if taken := w.taken(mark.Mark()); taken > 1 || round < n.Round && !failed {
			return fmt.Errorf("was taken %d times in round %d: %+v", taken, round, n)
		}
	}
	switch taken := w.taken(n.Mark()); {
	case n.State == chat.NoticeSent && owed.Status == chat.PromiseBroken && n.Until.IsZero():
		return fmt.Errorf("the promise is broken of what was sent: %+v", n)
	case taken == 0 && (n.State == chat.NoticeSent || n.State == chat.NoticeDelivered):
		return fmt.Errorf("was never taken: %+v", n)
	case !slices.Contains(status, owed.Status), !slices.Equal(told, want):
		return fmt.Errorf("the promise is %s, the session was told %v: %+v", owed.Status, told, n)
	case owed.Status == chat.PromiseBroken && n.State == chat.NoticeDelivered && !n.Settled:
		return fmt.Errorf("is not settled: %+v", n)
	}
	return nil
}
