package queue

import (
	"errors"
	"testing"
	"time"
)

func TestALoginEndsByItself(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for _, hash := range []string{"one", "two"} {
			if err := w.AddLogin(t.Context(), hash, Login{User: "admin", Mark: "m", At: time.Now()}, 5*time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(4 * time.Minute)
		if l, err := w.Login(t.Context(), "one"); err != nil || l.User != "admin" || l.Mark != "m" {
			t.Errorf("%+v, %v", l, err)
		}
		if err := w.RemoveLogin(t.Context(), "two"); err != nil {
			t.Error(err)
		}
		if _, err := w.Login(t.Context(), "two"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a login that was removed: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := w.Login(t.Context(), "one"); !errors.Is(err, ErrNotFound) {
			t.Errorf("after its time: %v", err)
		}
	})
}

func TestOpsTokensAreListedAndRemoved(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for _, name := range []string{"b", "a"} {
			if err := w.AddOpsToken(t.Context(), OpsToken{Name: name, Hash: "hash of " + name}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.AddOpsToken(t.Context(), OpsToken{Name: "a"}); !errors.Is(err, ErrExists) {
			t.Errorf("the name again: %v", err)
		}
		if err := w.AddLogin(t.Context(), "one", Login{User: "admin"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if all, err := w.OpsTokens(t.Context()); err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Hash != "hash of b" {
			t.Errorf("%+v, %v", all, err)
		}
		if err := w.RemoveOpsToken(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if _, err := w.OpsToken(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a token that was removed: %v", err)
		}
		if err := w.AddOpsToken(t.Context(), OpsToken{Name: "a", Hash: "another"}); err != nil {
			t.Errorf("its name anew: %v", err)
		}
	})
}
