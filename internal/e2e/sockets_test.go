//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestALoadOfSocketsLosesNothing plays a small one on a private instance, and one on an
// instance that runs.
func TestALoadOfSocketsLosesNothing(t *testing.T) {
	i := start(t, setup{rules: patientRules})
	for name, more := range map[string][]string{"private": nil, "running": {"--running", "--data", i.dir}} {
		file := filepath.Join(t.TempDir(), "report.json")
		args := append([]string{"load", "sockets", "--sockets", "20", "--every", "1s", "--for", "2s", "--rest", "500ms", "--json", file}, more...)
		p := spawn(t, nil, args...)
		if code := p.exit(t, time.Minute); code != 0 {
			t.Errorf("%s: exit code %d, want 0:\n%s\n%s", name, code, p.stdout, p.stderr.tail(5))
		}
		var r struct {
			Opened, Messages, Acked, Ended, Lost, Doubled, Gaps, Untold int
			Server                                                      struct {
				Measured  bool
				IdleBytes int64 `json:"idle_bytes"`
			}
		}
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Opened != 20 || r.Messages < 20 || r.Acked != r.Messages || r.Ended != r.Messages || r.Lost+r.Doubled+r.Gaps+r.Untold != 0 ||
			!r.Server.Measured || r.Server.IdleBytes == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	i.stop()
}
