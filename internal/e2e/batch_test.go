//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// batchLines is how large the batch is; SLUICE_TEST_LINES asks for another size.
const batchLines = 2000

// batchRoom is how much more memory the process may take for the batch, in MiB: of one ten
// times as large as well, once the engine has taken what it keeps of open tickets.
const batchRoom = 300

type batch struct {
	BatchID     string     `json:"batch_id"`
	Status      string     `json:"status"`
	Total       int        `json:"total"`
	Queued      int        `json:"queued"`
	Running     int        `json:"running"`
	Answered    int        `json:"answered"`
	Failed      int        `json:"failed"`
	Cancelled   int        `json:"cancelled"`
	ETAMS       int64      `json:"eta_ms"`
	CompletedAt *time.Time `json:"completed_at"`
}

func (b *batch) sum() int { return b.Queued + b.Running + b.Answered + b.Failed + b.Cancelled }

// lines writes a batch as it goes: neither side holds it whole. bad is a line without a
// message; 0: none.
func lines(n, bad int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		for line := 1; line <= n; line++ {
			text := fmt.Sprintf("Where is my parcel %d?", line)
			if line == bad {
				text = ""
			}
			_, _ = fmt.Fprintf(out, "{\"message\":%q,\"custom_id\":\"line-%d\"}\n", text, line)
		}
		_ = out.Flush() // whoever has stopped reading wants no more
		_ = w.Close()
	}()
	return r
}

func (i *instance) sendBatch(body io.Reader, key string) (b batch, err error) {
	req, err := http.NewRequest(http.MethodPost, i.base+"/v1/batches", body)
	if err != nil {
		return b, err
	}
	req.Header.Set("Authorization", "Bearer "+i.key)
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("Idempotency-Key", key)
	resp, err := i.http.Do(req)
	if err != nil {
		return b, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		p := &problem{Status: resp.StatusCode}
		return b, errors.Join(json.Unmarshal(raw, p), p)
	}
	return b, errors.Join(err, json.Unmarshal(raw, &b))
}

func (i *instance) batch(id string) (b batch) {
	i.t.Helper()
	if err := i.call(call{url: "/v1/batches/" + id}, &b); err != nil {
		i.t.Errorf("batch: %v", err)
	}
	return b
}

// results gives the results after a line to visit, as they come, and returns the last one.
func (i *instance) results(id string, after int, visit func(line int, t *ticket, customID string)) int {
	i.t.Helper()
	req, err := http.NewRequest(http.MethodGet, i.base+"/v1/batches/"+id+"/results?after="+strconv.Itoa(after), nil)
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.key)
	resp, err := i.http.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	in := json.NewDecoder(resp.Body)
	for {
		var one struct {
			ticket
			Line     int    `json:"line"`
			CustomID string `json:"custom_id"`
		}
		err := in.Decode(&one)
		if err == io.EOF {
			return after
		}
		if err != nil {
			i.t.Errorf("results after line %d: %v", after, err)
			return after
		}
		if one.Line != after+1 {
			i.t.Errorf("line %d comes after line %d", one.Line, after)
		}
		after = one.Line
		visit(one.Line, &one.ticket, one.CustomID)
	}
}

// memory returns the resident memory of the process in MiB.
func (i *instance) memory() int {
	i.t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(i.cmd.Process.Pid) + "/status")
	if err != nil && os.Getenv("CI") != "" {
		i.t.Fatal(err)
	}
	if err != nil {
		i.t.Skip("no /proc here")
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib >> 10
		}
	}
	return 0
}

// TestABatchSurvivesAKill hands in a batch, reads results while it runs, kills the process
// with kill -9 in the middle, and reads on: each line comes once, in order and answered,
// and the counts are exact. A batch with one bad line near its end leaves nothing.
func TestABatchSurvivesAKill(t *testing.T) {
	fast := map[string]any{
		"first_token": map[string]any{"kind": "fixed", "mean": "1ms"}, "call": map[string]any{"kind": "fixed", "mean": "4ms"},
	}
	n := batchLines
	if asked, err := strconv.Atoi(os.Getenv("SLUICE_TEST_LINES")); err == nil {
		n = asked
	}
	i := start(t, setup{rules: patientRules})
	i.behave(fast)
	before := i.memory()
	begun := time.Now()
	_, err := i.sendBatch(lines(n, n-1), "bad")
	refused(t, err, http.StatusBadRequest, "invalid")
	b, err := i.sendBatch(lines(n, 0), "good")
	if err != nil || b.Total != n {
		t.Fatalf("batch: %+v, %v", b, err)
	}
	t.Logf("refused once and accepted in %s, memory %d → %d MiB", time.Since(begun).Round(time.Millisecond), before, i.memory())
	seen, most := 0, 0
	check := func(line int, one *ticket, customID string) {
		seen++
		if one.Status != "answered" || one.Route != "agent" || customID != fmt.Sprintf("line-%d", line) {
			t.Errorf("line %d: %s, %s, %s", line, customID, one.Status, one.Route)
		}
	}
	last := 0
	look := func(until int) func() bool {
		return func() bool {
			last = i.results(b.BatchID, last, check)
			now := i.batch(b.BatchID)
			if now.sum() != n || now.Answered < last || now.Failed+now.Cancelled > 0 {
				t.Errorf("counts while it runs: %+v, %d results", now, last)
			}
			most = max(most, i.memory())
			return last >= until
		}
	}
	limit := time.Minute + time.Duration(n)*20*time.Millisecond
	await(t, limit, "half of the results", look(n/2))
	i.kill()
	i = start(t, setup{dir: i.dir})
	i.behave(fast)
	if again, err := i.sendBatch(lines(n, 0), "good"); err != nil || again.BatchID != b.BatchID {
		t.Errorf("the same key: %+v, %v", again, err)
	}
	await(t, limit, "all results", look(n))
	took := time.Since(begun)
	done := i.batch(b.BatchID)
	if done.Status != "completed" || done.Answered != n || done.CompletedAt == nil || seen != n {
		t.Errorf("at the end: %+v, %d results", done, seen)
	}
	t.Logf("%d lines in %s, at most %d MiB", n, took.Round(time.Millisecond), most)
	if most > before+batchRoom {
		t.Errorf("memory %d MiB, before the batch %d", most, before)
	}
}
