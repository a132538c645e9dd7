package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/rules"
)

// withIntents returns rules that have these intents alone, with these examples.
func withIntents(examples map[string][]string) *rules.Rules {
	r := &rules.Rules{}
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		r.Intents = append(r.Intents, rules.Intent{Name: name, Examples: examples[name]})
	}
	return r
}

// TestTrialsAreMadeOneAtATimeAndKept asks for trials as pages do: again and again.
func TestTrialsAreMadeOneAtATimeAndKept(t *testing.T) {
	now := withIntents(nil)
	first, second := withIntents(map[string][]string{"appointment": {"a", "b"}}), withIntents(map[string][]string{"appointment": {"a", "c"}})
	synctest.Test(t, func(t *testing.T) {
		tr := newTrials(zerolog.Nop())
		var begun []string
		running := 0
		tr.judge = func(ctx context.Context, r *rules.Rules, names []string) ([]api.IntentTrial, error) {
			if running++; running > 1 {
				t.Error("two trials at once")
			}
			defer func() { running-- }()
			examples := r.Intents[len(r.Intents)-1].Examples
			begun = append(begun, strings.Join(examples, ""))
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
			}
			one := blankTrial(names[0], api.TrialReady)
			one.Examples = len(examples)
			return []api.IntentTrial{one}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); tr.run(ctx) }()
		ask := func(actor string, next *rules.Rules, want string) {
			t.Helper()
			synctest.Wait()
			got := tr.ask(actor, now, next)
			if len(got) != 1 || got[0].Intent != "appointment" || got[0].Status != want {
				t.Fatalf("%+v, want %s", got, want)
			}
		}
		if got := tr.ask("ann", now, now); got != nil {
			t.Errorf("nothing is changed: %+v", got)
		}
		ask("ann", first, api.TrialPending)
		ask("ann", second, api.TrialPending) // takes the place of the first
		ask("bob", first, api.TrialPending)  // waits
		time.Sleep(9 * time.Second)
		ask("ann", second, api.TrialPending)
		time.Sleep(2 * time.Second)
		ask("ann", second, api.TrialReady)
		ask("bob", first, api.TrialPending)
		time.Sleep(11 * time.Second)
		ask("bob", first, api.TrialReady)
		ask("ann", second, api.TrialReady)
		third := withIntents(map[string][]string{"appointment": {"a", "c"}, "x": {"y"}})
		if got := tr.ask("ann", second, third); len(got) != 1 || got[0].Intent != "x" || got[0].Status != api.TrialPending {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
		stop()
		<-ended
		if got := strings.Join(begun, " "); got != "ab ac ab y" {
			t.Errorf("trials of %s, want of each what was wanted, once", got)
		}
	})
}

func TestATrialSaysWhatAnIntentIsConfusedWith(t *testing.T) {
	t.Parallel()
	vans := []string{"the van is late", "when does the van come", "our van has not come", "is the van on its way", "the van came early", "which van brings it", "can the van wait", "hello there"}
	r := withIntents(map[string][]string{"van": vans, "welcome": {"hello", "hi there", "hello again", "good morning", "hello to you", "hi", "hello you", "morning", "hey there", "hello hello"}})
	found, err := judgeIntents(t.Context(), r, []string{"van"})
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v (%v)", found, err)
	}
	one := found[0]
	lost := 0
	for _, m := range one.Lost {
		lost += m.Count
	}
	if one.Status != api.TrialReady || one.Examples != len(vans) || one.Right < 4 || one.Right+lost != len(vans) || one.Accuracy != float64(one.Right)/float64(len(vans)) {
		t.Errorf("%+v", one)
	}
}
