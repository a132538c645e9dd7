package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestHonestText(t *testing.T) {
	t.Parallel()
	for text, honest := range map[string]bool{
		``: true, `{}`: true, `"\u00e9"`: true, `"\ud83d\ude00"`: true, `"\uD83D\uDE00x"`: true, `"\\ud800"`: true,
		`"\\\\ud800"`: true, `"\\\ud800"`: false, `"\ud800"`: false, `"\udc00"`: false, `"\ud800\u0041"`: false,
		`"\ud800 \udc00"`: false, `"\ud83d\ud83d\ude00"`: false, `"\ud83d\ude00\ude00"`: false, `"\ufffd"`: true,
		"\"\xff\"": false, "\"\xed\xa0\x80\"": false, `"\`: true, `\u`: true, `\u00`: true, `\uD8zz`: true, `"\ud83d\u`: false,
	} {
		if err := checkHonest([]byte(text)); (err == nil) != honest {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzHonestText holds the check against what the parser makes of the text: it must
// refuse exactly what would come out changed.
func FuzzHonestText(f *testing.F) {
	for _, seed := range []string{`{"message":"\ud83d\ude00"}`, `"\ud800"`, `"\\ud800\udc00"`, "\"\xff\"", `"\ud800\ud800\udc00"`, `["\\\"\ud83d"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := checkHonest(b)
		var v any
		if json.Unmarshal(b, &v) != nil {
			return
		}
		// Where the sender wrote the replacement character, it proves nothing.
		if bytes.Contains(b, []byte("\uFFFD")) || strings.Contains(strings.ToLower(string(b)), `\ufffd`) {
			return
		}
		if changed := holds(v, '\uFFFD'); changed != (err != nil) {
			t.Errorf("%q: changed %v, refused %v", b, changed, err)
		}
	})
}

func holds(v any, r rune) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, r)
	case []any:
		for _, e := range v {
			if holds(e, r) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if holds(key, r) || holds(e, r) {
				return true
			}
		}
	}
	return false
}
