package queue

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestAnEarlierVersionsOperatorIsTakenOver(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if s, err := w.Staff(t.Context()); err != nil || len(s.Operators) != 0 || s.Admins() != 0 {
			t.Errorf("nobody: %+v, %v", s, err)
		}
		if _, err := w.control.PutString(t.Context(), "admin.admin", "hash"); err != nil {
			t.Fatal(err)
		}
		s, err := w.Staff(t.Context())
		former, _ := s.Find("admin")
		if err != nil || former.Hash != "hash" || former.Role != chat.Admin || former.Mark == "" || s.Admins() != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		err = w.ChangeStaff(t.Context(), func(s *Staff) error {
			s.Put(NewOperator("mei", chat.Viewer, "other", time.Now()))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err = w.Staff(t.Context())
		if kept, _ := s.Find("admin"); err != nil || kept != former || len(s.Operators) != 2 {
			t.Errorf("%+v, %v; want %+v kept", s, err, former)
		}
		if _, err := w.control.Get(t.Context(), "admin.admin"); err == nil {
			t.Error("the former hash is there still")
		}
		removed := errors.New("refused")
		if err := w.ChangeStaff(t.Context(), func(s *Staff) error { s.Remove("admin"); return removed }); !errors.Is(err, removed) {
			t.Errorf("%v, want what the change said", err)
		}
		if s, err := w.Staff(t.Context()); err != nil || s.Admins() != 1 {
			t.Errorf("a refused change is stored: %+v, %v", s, err)
		}
	})
}

func TestChangesOfOperatorsAtOnceAllCount(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				err := w.ChangeStaff(t.Context(), func(s *Staff) error {
					s.Put(NewOperator(fmt.Sprint("op-", i), chat.Operator, "hash", time.Now()))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s, err := w.Staff(t.Context())
		if err != nil || len(s.Operators) != 5 || s.Operators[0].Name != "op-0" || s.Operators[4].Name != "op-4" {
			t.Errorf("%+v, %v", s, err)
		}
		err = w.ChangeStaff(t.Context(), func(s *Staff) error {
			for i := range MaxOperators {
				s.Put(NewOperator(fmt.Sprint("more-", i), chat.Viewer, "hash", time.Now()))
			}
			return nil
		})
		if !errors.Is(err, ErrLarge) {
			t.Errorf("%v, want ErrLarge", err)
		}
	})
}

func TestASearchOfTheAuditEnds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		const n = auditScan + 50
		for i := range n {
			action := "lane.pause"
			if i == 0 {
				action = "rules.put"
			}
			if err := w.Note(t.Context(), Audit{Action: action}); err != nil {
				t.Fatal(err)
			}
		}
		none, next, err := w.SearchAudit(t.Context(), AuditFilter{Action: "rules"}, 0, 10)
		if err != nil || len(none) != 0 || next != n-auditScan+1 {
			t.Fatalf("%d entries, next %d, %v", len(none), next, err)
		}
		found, next, err := w.SearchAudit(t.Context(), AuditFilter{Action: "rules"}, next, 10)
		if err != nil || len(found) != 1 || found[0].Seq != 1 || next != 0 {
			t.Errorf("%+v, next %d, %v", found, next, err)
		}
	})
}
