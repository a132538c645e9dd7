//go:build e2e

package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// handed is one message, and what its caller was told before the process died.
type handed struct {
	ask question
	got ticket
	key string
}

// TestAKilledProcessLosesNothing kills the process with kill -9 while it takes messages
// in and answers them. Whoever got a 202 gets one answer, of the chain because there
// is time left; whoever did not repeats the request and gets one as well.
func TestAKilledProcessLosesNothing(t *testing.T) {
	const n, sessions = 600, 300
	i := start(t, setup{rules: patientRules})
	all := make([]handed, n)
	for k := range all {
		all[k].key = fmt.Sprintf("kill-%d", k)
		all[k].ask = question{
			Message: fmt.Sprintf("Where is my parcel %d?", k), SessionID: fmt.Sprintf("kill-%d", k%sessions),
			Lane: []string{"high", "normal", "low"}[k%3],
		}
	}
	// A quarter of the messages waits for the middle, so that the kill cuts the intake too.
	const early = n * 3 / 4
	middle, sent := make(chan struct{}), make(chan struct{})
	var taken atomic.Int64
	go func() {
		defer close(sent)
		each(n, 16, func(k int) {
			if k >= early {
				<-middle
			}
			// What the process's death cuts off is repeated below.
			if got, err := i.submit(all[k].ask, all[k].key); err == nil {
				all[k].got = got
				taken.Add(1)
			}
		})
	}()
	busy := poll(30*time.Second, func() bool { return i.stats().Completed >= 150 })
	close(middle)
	busy = busy && poll(5*time.Second, func() bool { return taken.Load() > early })
	i.kill()
	<-sent
	if !busy {
		t.Fatal("the process did not come to the middle of its answers")
	}

	next := start(t, setup{dir: i.dir})
	await(t, 2*time.Second-time.Since(next.readyAt), "the first call of a vendor", func() bool { return next.stats().Calls > 0 })
	t.Logf("first call of a vendor seen %d ms after ready", time.Since(next.readyAt).Milliseconds())
	accepted, interrupted := 0, 0
	for _, h := range all {
		if h.got.TicketID == "" {
			continue
		}
		accepted++
		if now, err := next.ticket(h.got.TicketID); err != nil {
			t.Errorf("an accepted ticket is gone: %v", err)
		} else if !now.ended() || now.EndedAt.After(next.readyAt) {
			interrupted++
		}
	}
	if accepted == 0 || interrupted == 0 || interrupted == accepted {
		t.Fatalf("%d accepted, %d of them interrupted: this was not in the middle", accepted, interrupted)
	}
	each(n, 32, func(k int) { next.again(t, &all[k]) })
	bySession := map[string][]ticket{}
	retaken := 0
	for k := range all {
		name := all[k].ask.SessionID
		bySession[name] = append(bySession[name], all[k].got)
		if all[k].got.Attempts > 1 {
			retaken++
		}
	}
	t.Logf("%d of %d accepted before the kill, %d of them interrupted, %d taken twice", accepted, n, interrupted, retaken)
	each(sessions, 32, func(k int) {
		name := fmt.Sprintf("kill-%d", k)
		next.checkTold(name, bySession[name]...)
	})
}

// again repeats a message and follows it to its end.
func (i *instance) again(t *testing.T, h *handed) {
	t.Helper()
	got, err := i.submit(h.ask, h.key)
	if err != nil {
		t.Errorf("repeat: %v", err)
		return
	}
	if h.got.TicketID != "" && got.TicketID != h.got.TicketID {
		t.Errorf("the same key got ticket %s and then %s", h.got.TicketID, got.TicketID)
	}
	h.got = i.end(got.TicketID, time.Minute)
	if h.got.Status != "answered" || h.got.Route != "agent" {
		t.Errorf("%+v, want an answer of the agent", h.got)
	}
}
