package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// TestAKillAtEachWriteIsMended ends a process by a real kill -9 before each named
// write. The next process on the same directory, and a repeat of the same request,
// find one ticket with one end, one final event, one story and an empty lane.
func TestAKillAtEachWriteIsMended(t *testing.T) {
	t.Parallel()
	quick := crashVendors(t, sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), Call: sim.Fixed(10 * time.Millisecond)})
	silent := crashVendors(t, sim.Behaviour{HangShare: 1})
	for _, point := range queue.Points() {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			plan := crashPlan{Dir: t.TempDir(), Vendors: quick, Key: "the key", DieAt: point}
			end := chat.Answered
			switch {
			case point == queue.BackTicket:
				// A running ticket goes back when its holder is found dead: so one holder dies first.
				first := plan
				first.DieAt = queue.EndTicket
				mustDie(t, first)
				plan.Key = ""
			case strings.HasPrefix(string(point), "cancel."):
				plan.Vendors, plan.Cancel = silent, true
				if point != queue.CancelTicket {
					end = chat.Cancelled
				}
			}
			mustDie(t, plan)
			checkMended(t, mustLive(t, crashPlan{Dir: plan.Dir, Vendors: quick, Key: "the key"}), end)
		})
	}
}

// checkMended asserts what a caller was promised.
func checkMended(t *testing.T, r crashReport, end chat.Status) {
	t.Helper()
	if r.Ticket.Status != end {
		t.Errorf("the ticket is %s, want %s", r.Ticket.Status, end)
	}
	if end == chat.Answered && r.Ticket.Route != chat.RouteAgent {
		t.Errorf("answered by %s (%s), want the agent", r.Ticket.Route, r.Ticket.Reason)
	}
	if len(r.Events) != 2 || r.Events[0].Seq != 1 || r.Events[1].Seq != 2 ||
		r.Events[0].Who != chat.ByCustomer || r.Events[1].Status != end ||
		r.Events[0].Ticket != r.Ticket.ID || r.Events[1].Ticket != r.Ticket.ID {
		t.Errorf("events:%s\nwant 1 and 2, the message and the end of %s", fmtEvents(r.Events), r.Ticket.ID)
	}
	if r.Stories != 1 {
		t.Errorf("%d stories, want 1", r.Stories)
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
