package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// mended is what the last process must find.
type mended struct {
	status  chat.Status
	route   chat.Route
	events  int // gapless, each question followed by its end
	letters int
	handed  bool // its customer was told that people take over
}

// TestAKillAtEachWriteIsMended ends a process by a real kill -9 before each named
// write. The next process on the same directory, and a repeat of the same request,
// find one ticket with one end, one final event, one story and an empty lane.
func TestAKillAtEachWriteIsMended(t *testing.T) {
	t.Parallel()
	quick := crashVendors(t, sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
	silent := crashVendors(t, sim.Behaviour{HangShare: 1})
	broken := crashVendors(t, sim.Behaviour{ErrorShare: 1})
	for n, point := range queue.Points() {
		if n%killEach != 0 {
			continue
		}
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			plan := crashPlan{Dir: t.TempDir(), Vendors: quick, Key: "the key", DieAt: point}
			last := crashPlan{Dir: plan.Dir, Vendors: quick, Key: "the key"}
			want := mended{status: chat.Answered, route: chat.RouteAgent, events: 2}
			// A holder that dies leaves a running ticket behind.
			holder := plan
			holder.DieAt = queue.EndTicket
			switch {
			case point == queue.BackTicket:
				mustDie(t, holder)
				plan.Key = ""
			case point == queue.EndDead:
				mustDie(t, holder)
				plan.Key, plan.Deliver = "", 1
				want.route, want.letters = chat.RouteTemplate, 1
			case point == queue.RequeueLetter:
				mustDie(t, holder)
				last.Deliver = 1
				checkMended(t, mustLive(t, last), mended{status: chat.Answered, route: chat.RouteTemplate, events: 2, letters: 1})
				plan.Key, plan.Requeue = "", true
				last = plan
				last.DieAt = ""
				want.events = 4
			case point == queue.EndHook:
				plan.Callback = newReceiver(t).URL
			case strings.HasPrefix(string(point), "hand."):
				plan.Vendors, plan.Urgent = broken, true
				last.Vendors, last.Urgent = broken, true
				want.route, want.handed = chat.RouteTemplate, true
			case strings.HasPrefix(string(point), "cancel."):
				plan.Vendors, plan.Cancel = silent, true
				if point != queue.CancelTicket {
					want.status, want.route = chat.Cancelled, ""
				}
			}
			mustDie(t, plan)
			checkMended(t, mustLive(t, last), want)
		})
	}
}

// checkMended asserts what a caller was promised.
func checkMended(t *testing.T, r crashReport, want mended) {
	t.Helper()
	if r.Ticket.Status != want.status || r.Ticket.Route != want.route {
		t.Errorf("the ticket is %s by %q (%s), want %s by %q", r.Ticket.Status, r.Ticket.Route, r.Ticket.Reason, want.status, want.route)
	}
	if want.handed {
		checkHanded(t, r)
		return
	}
	if len(r.Events) != want.events {
		t.Fatalf("events:%s\nwant %d", fmtEvents(r.Events), want.events)
	}
	for i, e := range r.Events {
		asked := r.Events[i/2*2]
		if e.Seq != uint64(i+1) || e.Ticket != asked.Ticket || asked.Who != chat.ByCustomer || e.Status.Ended() != (i%2 == 1) {
			t.Errorf("event %d:%s\nwant each message, then its end", i+1, fmtEvents(r.Events))
		}
	}
	if end := r.Events[want.events-1]; end.Ticket != r.Ticket.ID || end.Status != want.status {
		t.Errorf("events:%s\nthe last is not the end of %s", fmtEvents(r.Events), r.Ticket.ID)
	}
	if r.Letters != want.letters {
		t.Errorf("%d dead letters, want %d", r.Letters, want.letters)
	}
	if r.Stories != 1 {
		t.Errorf("%d new stories, want 1", r.Stories)
	}
}

// checkHanded asserts that the customer of an urgent ticket was told once that people take
// over, before its one end.
func checkHanded(t *testing.T, r crashReport) {
	t.Helper()
	var got []string
	for i, e := range r.Events {
		got = append(got, string(e.Kind)+" "+string(e.Who)+" "+string(e.Owner)+string(e.Status))
		if e.Seq != uint64(i+1) || e.Ticket != r.Ticket.ID {
			t.Errorf("event %d:%s", i+1, fmtEvents(r.Events))
		}
	}
	want := []string{"message customer ", "message system ", "owner system queue", "message bot answered"}
	if !slices.Equal(got, want) || r.Ticket.Reason != chat.ReasonVendorUnavailable || r.Stories != 1 || r.Handoffs != 1 {
		t.Errorf("events %q, reason %s, %d stories, %d handoffs; want %q", got, r.Ticket.Reason, r.Stories, r.Handoffs, want)
	}
}

// crashVendors serves simulated vendors that outlive every child.
func crashVendors(t *testing.T, b sim.Behaviour) map[string]string {
	t.Helper()
	server, err := sim.Listen(t.Context(), "", []sim.Config{{Name: "a", Behaviour: b}, {Name: "b", Behaviour: b}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return map[string]string{"a": server.URL("a"), "b": server.URL("b")}
}

func mustDie(t *testing.T, p crashPlan) {
	t.Helper()
	state, _, said := playChild(t, p)
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended with %s instead of dying at %s: %s", state, p.DieAt, said)
	}
}

func mustLive(t *testing.T, p crashPlan) (r crashReport) {
	t.Helper()
	state, out, said := playChild(t, p)
	if !state.Success() {
		t.Fatalf("the next process ended with %s: %s", state, said)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("read the report %q: %v", out, err)
	}
	return r
}

// playChild runs this test binary as a process that plays p.
func playChild(t *testing.T, p crashPlan) (*os.ProcessState, []byte, string) {
	t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*crashLimit)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+string(raw))
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState, out.Bytes(), said.String()
}
