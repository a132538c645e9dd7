package main

import (
	"errors"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// again has a notice sent again by an operator, or finds that it must not be.
func (w *textWorld) again(id string, may bool) {
	w.t.Helper()
	_, why, err := w.queue.SendAgain(w.t.Context(), id, time.Now().UTC())
	if may && err != nil || !may && !errors.Is(err, queue.ErrNotAgain) {
		w.t.Errorf("send again: %v (%s), want %v", err, why, may)
	}
}

// arrived asserts how many texts of each round the carrier has taken.
func (w *textWorld) arrived(id string, rounds ...int) {
	w.t.Helper()
	for round, want := range rounds {
		n := chat.Notice{ID: id, Round: round}
		if got := w.taken(n.Mark()); got != want {
			w.t.Errorf("the carrier has taken %d texts of round %d, want %d", got, round, want)
		}
	}
}

// TestATextIsSentAgainOnce has operators repeat what failed and what nobody knows of, by
// every way to come there. The promise is broken by then, and stays so.
func TestATextIsSentAgainOnce(t *testing.T) {
	const wait, broken = 70 * time.Second, chat.PromiseBroken
	for name, doc := range map[string]string{"twilio": twilioRules, "aliyun": aliyunRules} {
		t.Run(name, func(t *testing.T) {
			inTextWorld(t, doc, func(w *textWorld) {
				late := w.notice("s0", cnNumber, chat.English, 2*time.Second)
				time.Sleep(5 * time.Second) // nobody sends
				x := w.texter("a")
				defer func() { x.stop() }()

				w.carrier.Behave(sim.TextBehaviour{Receipts: []string{"undelivered:30003"}})
				failed := w.notice("s1", cnNumber, chat.English, wait)
				time.Sleep(3 * time.Second)
				w.want("s0", late, chat.NoticeFailed, broken)
				w.want("s1", failed, chat.NoticeFailed, broken)

				w.carrier.Behave(sim.TextBehaviour{Lose: true, Blind: true})
				dark := w.notice("s2", cnNumber, chat.English, wait)
				time.Sleep(wait + 5*time.Second)
				w.want("s2", dark, chat.NoticeUnknown, broken)

				// The carrier cannot be asked: nothing leaves that it may have.
				for _, id := range []string{failed, dark} {
					w.again(id, true)
					w.again(id, false)
				}
				time.Sleep(2 * time.Minute)
				w.want("s1", failed, chat.NoticeUnknown, broken)
				w.want("s2", dark, chat.NoticeUnknown, broken)
				w.arrived(failed, 1, 0)
				w.arrived(dark, 1, 0)

				// It has the one, and says that the other one did not arrive. Its sender dies
				// in the middle of that.
				w.carrier.Behave(sim.TextBehaviour{Receipts: []string{"sent", "delivered"}})
				w.again(late, true)
				x.armed(queue.NoticePoint(chat.NoticeSent), 0)
				time.Sleep(90 * time.Second)
				if !x.isDead() {
					t.Error("the sender did not die")
				}
				x.stop()
				x = w.texter("b")
				time.Sleep(2 * time.Minute)
				w.want("s0", late, chat.NoticeDelivered, broken)
				w.want("s2", dark, chat.NoticeSent, broken)
				if n := w.want("s1", failed, chat.NoticeDelivered, broken); n.Round != 1 || n.Tries != 2 {
					t.Errorf("%+v", n)
				}
				w.arrived(late, 1, 0)
				w.arrived(failed, 1, 1)
				w.arrived(dark, 1, 0)
				for _, id := range []string{late, failed, dark} {
					w.again(id, false)
				}

				// What the carrier never had, and what it refused.
				w.carrier.Behave(sim.TextBehaviour{Status: 503, Code: "isp.SYSTEM_ERROR", Blind: true})
				never := w.notice("s3", cnNumber, chat.English, wait)
				time.Sleep(2 * time.Second)
				w.carrier.Behave(sim.TextBehaviour{Status: 400, Code: "21211", Blind: true})
				refused := w.notice("s4", cnNumber, chat.English, wait)
				time.Sleep(wait + 5*time.Second)
				w.want("s3", never, chat.NoticeUnknown, broken)
				w.want("s4", refused, chat.NoticeFailed, broken)
				w.carrier.Behave(sim.TextBehaviour{})
				w.again(never, true)
				w.again(refused, true)
				time.Sleep(2 * time.Minute)
				w.want("s3", never, chat.NoticeSent, broken)
				w.want("s4", refused, chat.NoticeSent, broken)
				w.arrived(never, 1, 0)
				w.arrived(refused, 1, 0)
			})
		})
	}
}

// TestWhatIsSentAgainHasADay has a carrier that does not say for a whole day what it knows.
func TestWhatIsSentAgainHasADay(t *testing.T) {
	inTextWorld(t, twilioRules, func(w *textWorld) {
		x := w.texter("a")
		w.carrier.Behave(sim.TextBehaviour{Lose: true, Blind: true})
		id := w.notice("s", cnNumber, chat.English, 10*time.Second)
		time.Sleep(15 * time.Second)
		w.again(id, true)
		time.Sleep(time.Minute)
		x.stop() // for the most part of the day
		time.Sleep(chat.AgainFor - 2*time.Minute)
		w.want("s", id, chat.NoticeUnknown, chat.PromiseBroken)
		defer w.texter("b").stop()
		time.Sleep(3 * time.Minute)
		if n := w.want("s", id, chat.NoticeUnknown, chat.PromiseBroken); n.Open() || n.Again {
			t.Errorf("somebody still looks after it: %+v", n)
		}
		w.carrier.Behave(sim.TextBehaviour{})
		w.again(id, true)
		time.Sleep(2 * time.Minute)
		w.want("s", id, chat.NoticeSent, chat.PromiseBroken)
		w.arrived(id, 1, 0)
	})
}
