package report

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// halfway is a gauge that stands still.
type halfway struct{ done int }

func (g halfway) Way() (done, total int) { return g.done, 20 }

func (g halfway) String() string { return "open 10" }

func TestProgressIsALineEveryTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		Progress{Out: &out}.Run(ctx, halfway{9})
		if want := "    2s  open 10\n    4s  open 10\n    5s  open 10\n"; out.String() != want {
			t.Errorf("progress %q, want %q", out.String(), want)
		}
	})
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	t.Parallel()
	for done, percent := range map[int]string{9: "45%", 25: "95%"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			Progress{Out: &out, Terminal: true}.Run(ctx, halfway{done})
			if got := out.String(); !strings.Contains(got, percent) || !strings.Contains(got, "open 10") {
				t.Errorf("progress %q, want %s", got, percent)
			}
		})
	}
}
