package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// split returns what a splitter makes of a body, up to its end or its first fault.
func split(t *testing.T, body io.Reader) (lines []string, fault error) {
	t.Helper()
	s, err := newSplitter(body)
	must(t, err)
	for {
		line, err := s.next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func TestBothFormsOfABatchHaveTheSameLines(t *testing.T) {
	t.Parallel()
	items := []string{`{"a":"],}\"\\"}`, `"text, with ] and {"`, `[1,[2,{"b":"\\"}]]`, `7`, `{"c":"会话"}`}
	for _, form := range []string{
		strings.Join(items, "\n"), strings.Join(items, "\r\n") + "\r\n\n", " {\"items\" :\n[" + strings.Join(items, " ,\n") + "\n] } \n",
	} {
		got, err := split(t, iotest.OneByteReader(strings.NewReader(form)))
		if err != nil || strings.Join(got, "|") != strings.Join(items, "|") {
			t.Errorf("%q: %q, %v", form, got, err)
		}
	}
}

// FuzzSplitter: whatever comes, a line is at most so long, and where the one-document
// form is valid JSON, its lines are the elements of its list.
func FuzzSplitter(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n\n{}", `{"items":[]}`, `{"items":[{},"]",[1]]}`, `{"items":[1,]}`, `{"items":[1}`, `{"items":["\"`, `{"items":[1]}x`, `{"items":[1],"items":[2]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, fault := split(t, bytes.NewReader(body))
		for _, line := range lines {
			if len(line) > maxBody {
				t.Fatalf("a line of %d bytes", len(line))
			}
		}
		var whole map[string]json.RawMessage
		var items []json.RawMessage
		if !itemsHead.Match(body) || len(body) > maxBody || json.Unmarshal(body, &whole) != nil || len(whole) != 1 ||
			bytes.Count(body, []byte("items")) != 1 || json.Unmarshal(whole["items"], &items) != nil {
			return
		}
		if fault != nil || len(lines) != len(items) {
			t.Fatalf("%d lines (%v), the list has %d", len(lines), fault, len(items))
		}
		for i := range items {
			if lines[i] != string(items[i]) {
				t.Fatalf("line %d is %q, want %q", i+1, lines[i], items[i])
			}
		}
	})
}
