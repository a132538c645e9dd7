package queue

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

func (w *world) pause(lane chat.Lane, until time.Time) {
	w.t.Helper()
	now, err := w.LaneOrder(w.t.Context(), lane)
	if err == nil {
		_, err = w.SetLaneOrder(w.t.Context(), lane, LaneOrder{
			State: chat.LanePaused, Actor: "admin", Reason: "test", At: time.Now().UTC(), Until: until, Rev: now.Rev,
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAPauseEndsByItselfOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.process("one")
		w.process("two")
		w.pause(chat.Normal, time.Now().Add(time.Minute))
		w.pause(chat.Low, time.Time{})
		time.Sleep(59 * time.Second)
		w.wantState(chat.Normal, chat.LanePaused)
		time.Sleep(3 * time.Second)
		w.wantState(chat.Normal, chat.LaneOpen)
		w.wantState(chat.Low, chat.LanePaused) // its end is somebody's word
		if s := w.standing(chat.Normal); s.Actor != pauseActor || !s.Until.IsZero() {
			t.Errorf("%+v", s)
		}
		all, err := w.Audits(t.Context(), 0, 10)
		if err != nil || len(all) != 1 || all[0].Action != "lane.resume" || all[0].Target != "normal" || all[0].Actor != pauseActor {
			t.Errorf("%v, the audit has %+v", err, all)
		}
	})
}

func TestAPauseThatWasDueWhileNobodyRanEndsWithTheNextStart(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		p := w.process("one")
		w.pause(chat.High, time.Now().Add(time.Minute))
		time.Sleep(time.Second)
		p.stop()
		time.Sleep(time.Hour)
		w.wantState(chat.High, chat.LanePaused)
		w.process("two")
		time.Sleep(2 * time.Second)
		w.wantState(chat.High, chat.LaneOpen)
	})
}
