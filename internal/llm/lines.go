package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// lines splits a body into lines of any length up to maxAnswer.
type lines struct {
	in   *bufio.Reader
	long []byte
}

// next returns a line without its end, valid until the next call. A last line without an end does not count if it is
// only the beginning of one: the rest was cut off.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if err == nil && len(l.long) == 0 {
			return bytes.TrimSpace(part), nil
		}
		l.long = append(l.long, part...)
		switch {
		case len(l.long) > maxAnswer:
			return nil, errTooLarge
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && isFragment(l.long):
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, err
		}
		return bytes.TrimSpace(l.long), nil
	}
}

// isFragment reports whether a line without an end is a part of an event, or nothing.
func isFragment(line []byte) bool {
	line = bytes.TrimSpace(line)
	for _, field := range [][]byte{dataField, []byte("event:"), []byte("retry:"), []byte("id:")} {
		if bytes.HasPrefix(field, line) && len(line) < len(field) {
			return true
		}
	}
	data, ok := bytes.CutPrefix(line, dataField)
	data = bytes.TrimSpace(data)
	return ok && !bytes.Equal(data, doneMark) && !json.Valid(data)
}

// drain reads to EOF and reports whether it got there within limit bytes.
func (l *lines) drain(limit int) bool {
	for limit > 0 {
		n, err := l.in.Discard(min(limit, 4096))
		if err != nil {
			return err == io.EOF
		}
		limit -= n
	}
	return false
}
