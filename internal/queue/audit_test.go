package queue

import (
	"strconv"
	"testing"
	"time"
)

func TestTheAuditIsReadInPagesNewestFirst(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if entries, err := w.Audits(t.Context(), 0, 10); err != nil || len(entries) != 0 {
			t.Errorf("an empty audit holds %v (%v)", entries, err)
		}
		for i := range 5 {
			err := w.Note(t.Context(), Audit{At: time.Now(), Actor: "admin", Action: "lane.pause", Target: strconv.Itoa(i + 1), Reason: "原因 \"x\"\n"})
			if err != nil {
				t.Fatal(err)
			}
		}
		var read []string
		before := uint64(0)
		for _, want := range []int{2, 2, 1, 0} {
			page, err := w.Audits(t.Context(), before, 2)
			if err != nil || len(page) != want {
				t.Fatalf("page before %d: %d entries (%v), want %d", before, len(page), err, want)
			}
			for _, a := range page {
				read, before = append(read, a.Target), a.Seq
				if a.Reason != "原因 \"x\"\n" || a.Seq == 0 {
					t.Errorf("%+v", a)
				}
			}
		}
		if len(read) != 5 || read[0] != "5" || read[4] != "1" {
			t.Errorf("order %v", read)
		}
		if err := w.audit.DeleteMsg(t.Context(), 1); err == nil {
			t.Error("an entry was deleted")
		}
	})
}
