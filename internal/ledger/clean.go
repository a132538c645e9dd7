package ledger

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// cleanText makes any string one that PostgreSQL takes: no NUL, valid UTF-8.
func cleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// cleanJSON makes any JSON one that jsonb takes. PostgreSQL is stricter than encoding/json: it refuses NUL also when
// escaped, half a surrogate pair and bad UTF-8. Bodies that may hold one are rewritten, the others pass as they are.
func cleanJSON(body json.RawMessage) (string, bool) {
	if !json.Valid(body) {
		return "", false
	}
	if utf8.Valid(body) && !suspect(body) {
		return string(body), true
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // numbers keep their digits
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "", false
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(cleanValue(value)); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// suspect finds the escapes of NUL and of surrogates. It may be wrong about an escaped backslash before a plain "u",
// which only costs time.
func suspect(body []byte) bool {
	return bytes.Contains(body, []byte(`\u0000`)) || bytes.Contains(body, []byte(`\ud`)) ||
		bytes.Contains(body, []byte(`\uD`))
}

func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return cleanText(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[cleanText(key)] = cleanValue(value)
		}
		return out
	}
	return v
}
