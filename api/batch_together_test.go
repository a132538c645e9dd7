package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestTwoUploadsAtOnce sends the pieces of two batches in turn, then the same one twice.
func TestTwoUploadsAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const lines = 60
	whole := func(name string) string { // more than one part of a spool
		return strings.NewReplacer("c-", name+"-", "Where", strings.Repeat("Where ", 900)).Replace(ndjson(lines, nil))
	}
	upload := func(key string) (*io.PipeWriter, <-chan answer) {
		r, w := io.Pipe()
		done := make(chan answer, 1)
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/v1/batches", r)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+f.demo.Secret)
			req.Header.Set("Content-Type", "application/x-ndjson")
			req.Header.Set("Idempotency-Key", key)
			res, err := f.client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			a := answer{status: res.StatusCode}
			a.raw, _ = io.ReadAll(res.Body)
			_ = json.Unmarshal(a.raw, &a.json)
			done <- a
		}()
		return w, done
	}
	together := func(keys, bodies [2]string) (got [2]answer) {
		t.Helper()
		one, first := upload(keys[0])
		two, second := upload(keys[1])
		const piece = 4000 // bytes; lines end where they end
		for at := 0; at < max(len(bodies[0]), len(bodies[1])); at += piece {
			for j, w := range []*io.PipeWriter{one, two} {
				_, err := io.WriteString(w, bodies[j][min(at, len(bodies[j])):min(at+piece, len(bodies[j]))])
				must(t, err)
			}
		}
		must(t, one.Close())
		must(t, two.Close())
		return [2]answer{<-first, <-second}
	}
	got := together([2]string{"a", "b"}, [2]string{whole("a"), whole("b")})
	for i, name := range []string{"a", "b"} {
		id := got[i].text("batch_id")
		if got[i].status != http.StatusAccepted || got[i].json["total"] != float64(lines) {
			t.Fatalf("%s: %d %s", name, got[i].status, got[i].raw)
		}
		f.call("DELETE", "/v1/batches/"+id, f.demo.Secret, nil)
		all := f.results(id, 0)
		if len(all) != lines {
			t.Fatalf("%s has %d lines", name, len(all))
		}
		for k, r := range all {
			if want := fmt.Sprintf("%s-%d", name, k+1); r.CustomID != want || r.Line != k+1 {
				t.Fatalf("line %d of %s is %s", r.Line, name, r.CustomID)
			}
		}
	}
	same := together([2]string{"c", "c"}, [2]string{whole("c"), whole("c")})
	if same[0].text("batch_id") != same[1].text("batch_id") || same[0].status+same[1].status != http.StatusAccepted+http.StatusOK {
		t.Errorf("the same twice: %d %s and %d %s", same[0].status, same[0].raw, same[1].status, same[1].raw)
	}
	f.call("DELETE", "/v1/batches/"+same[0].text("batch_id"), f.demo.Secret, nil)
	f.nothingSpooled()
}
