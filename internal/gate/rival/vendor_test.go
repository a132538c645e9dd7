//go:build linux

package rival

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"sluice/internal/sim"
)

// The vendors of a run, all in one process: one answers at once, the other after the time
// of a very short call.
const (
	vendorRole = "vendor"
	prompt     = "prompt"
	usual      = "usual"
	usualDelay = 200 * time.Millisecond
)

// vendors is the child that simulates them.
type vendors struct {
	*child
	urls    map[string]string
	control string
}

func startVendors(t testing.TB) *vendors {
	t.Helper()
	c, urls := play(t, vendorRole)
	if len(urls) != 3 {
		t.Fatalf("the vendors listen on %v", urls)
	}
	return &vendors{child: c, urls: map[string]string{prompt: urls[0], usual: urls[1]}, control: urls[2]}
}

// playVendor serves both until it is killed.
func playVendor() error {
	at := func(d time.Duration) sim.Behaviour {
		return sim.Behaviour{FirstToken: sim.Fixed(d / 4), Call: sim.Fixed(d)}
	}
	server, err := sim.Listen(context.Background(), "127.0.0.1:0", []sim.Config{
		{Name: prompt, Behaviour: at(0)}, {Name: usual, Behaviour: at(usualDelay)},
	})
	if err != nil {
		return err
	}
	if err := listening(server.URL(prompt), server.URL(usual), server.ControlURL()); err != nil {
		return err
	}
	return server.Run(context.Background())
}

// most returns the most calls that a vendor had at once since the last reset.
func (v *vendors) most(t testing.TB, vendor string) int {
	t.Helper()
	var stats sim.Stats
	resp, err := http.Get(v.control + "/" + vendor + "/sim/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		t.Fatal(err)
	}
	return stats.MaxInFlight
}

// reset makes both vendors forget what they have seen.
func (v *vendors) reset(t testing.TB) {
	t.Helper()
	resp, err := http.Post(v.control+"/sim/reset", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("reset: %s", resp.Status)
	}
}
