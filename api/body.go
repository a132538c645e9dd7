package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"sluice/internal/chat"
)

const (
	maxBody     = 64 << 10
	bodyTimeout = 10 * time.Second // for the whole body, so that a trickle holds nothing for long
)

// readBody reads a request's JSON body before anything parses it: what is too large
// or no honest text goes no further.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return readBodyUpTo(w, r, maxBody)
}

func readBodyUpTo(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	body, err := readTextUpTo(w, r, most)
	if err != nil {
		return nil, err
	}
	return body, checkHonest(body)
}

// readTextUpTo reads a body that is no JSON; what it is, is left to its parser.
func readTextUpTo(w http.ResponseWriter, r *http.Request, most int) ([]byte, error) {
	if r.ContentLength > int64(most) {
		return nil, errTooLarge(most)
	}
	// Deadlines are the connection's; one that has none of its own (a test's recorder)
	// is not worse off without.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	var buf bytes.Buffer
	_, err := buf.ReadFrom(io.LimitReader(r.Body, int64(most)+1))
	if err == nil && buf.Len() <= most {
		_ = control.SetReadDeadline(time.Time{})
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &chat.Error{Kind: chat.Transient, Code: codeTimeout, Detail: "the body did not come in time"}
	case err != nil:
		return nil, &chat.Error{Kind: chat.Invalid, Code: codeInvalid, Detail: "the body ended early", Err: err}
	case buf.Len() > most:
		return nil, errTooLarge(most)
	}
	return buf.Bytes(), nil
}

func errTooLarge(most int) *chat.Error {
	return &chat.Error{
		Kind: chat.Invalid, Code: codeTooLarge,
		Detail: "the body may hold at most " + strconv.Itoa(most) + " bytes",
	}
}

// checkHonest refuses JSON text that encoding/json would silently change: bytes that
// are not UTF-8, and escapes of half a surrogate pair. It leaves all other faults to
// the parser.
func checkHonest(b []byte) error {
	if !utf8.Valid(b) {
		return chat.Bad("body", "must be valid UTF-8")
	}
	for i := bytes.IndexByte(b, '\\'); i >= 0 && i < len(b); {
		size, half := escape(b[i:])
		if half {
			return chat.Bad("body", "must not hold half a surrogate pair (byte %d)", i)
		}
		i += size
		next := bytes.IndexByte(b[min(i, len(b)):], '\\')
		if next < 0 {
			return nil
		}
		i += next
	}
	return nil
}

// escape reads the escape that b begins with: its length in bytes, and whether it is
// half a surrogate pair. Something that is no escape has the length of its backslash
// and the byte after.
func escape(b []byte) (size int, half bool) {
	first, ok := hexEscape(b)
	switch {
	case !ok:
		return 2, false
	case first < 0xD800 || first > 0xDFFF:
		return 6, false
	case first >= 0xDC00:
		return 6, true
	}
	second, ok := hexEscape(b[6:])
	return 12, !ok || second < 0xDC00 || second > 0xDFFF
}

// hexEscape reads \uXXXX.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
