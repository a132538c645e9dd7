package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"

	"sluice/internal/chat"
)

// itemsHead is how the one-document form of a batch begins; whoever begins otherwise sends
// a line a ticket.
var itemsHead = regexp.MustCompile(`^[ \t\r\n]*\{[ \t\r\n]*"items"[ \t\r\n]*:[ \t\r\n]*\[`)

const headSize = 4096 // bytes in which the head of the one-document form must end

// splitter cuts the body of a batch into its lines, of either form, and holds one at a
// time. It only knows where a line ends: whether it is JSON is for its parser.
type splitter struct {
	in    *bufio.Reader
	items bool // one document with a list
	first bool
	buf   []byte

	blank int  // lines without anything that are not told of: they are none if they end the body
	held  bool // buf is the line after them
	long  bool // which is too long
}

// errSplit is a fault after which nobody knows where the next line begins.
type errSplit struct{ detail string }

func (e errSplit) Error() string { return e.detail }

func newSplitter(body io.Reader) (*splitter, error) {
	s := &splitter{in: bufio.NewReaderSize(body, 64<<10), first: true}
	head, err := s.in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if at := itemsHead.FindIndex(head); at != nil {
		s.items = true
		_, _ = s.in.Discard(at[1])
	}
	return s, nil
}

// next returns the bytes of the next line until the call after it, or io.EOF at the end
// of a whole body. A line that is too long is returned with errLong, and the next call goes
// on behind it.
func (s *splitter) next() ([]byte, error) {
	if s.items {
		s.buf = s.buf[:0]
		return s.nextItem()
	}
	for !s.held {
		if err := s.readLine(); err != nil {
			return nil, err
		}
		if s.held = s.long || !isBlank(s.buf); !s.held {
			s.blank++
		}
	}
	if s.blank > 0 {
		s.blank--
		return nil, nil
	}
	if s.held = false; s.long {
		return nil, errLong()
	}
	return bytes.TrimSpace(s.buf), nil
}

// readLine reads up to the next line end, or what is left at the end of the body; io.EOF:
// nothing is.
func (s *splitter) readLine() error {
	s.buf, s.long = s.buf[:0], false
	for {
		part, err := s.in.ReadSlice('\n')
		if s.long = s.long || len(s.buf)+len(part) > maxBody; !s.long {
			s.buf = append(s.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (s.long || len(s.buf) > 0):
			return nil
		default:
			return err
		}
	}
}

func errLong() error { return chat.Bad("line", "may hold at most %d bytes", maxBody) }

// nextItem reads up to the comma or bracket that ends an element of the list.
func (s *splitter) nextItem() ([]byte, error) {
	depth, quoted, escaped, long := 0, false, false, false
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil, errSplit{"the list of items has no end"}
		}
		if err != nil {
			return nil, err
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == ']'):
			return s.element(c, long)
		case c == '}' || c == ']':
			depth--
		}
		if long = long || len(s.buf) >= maxBody; !long {
			s.buf = append(s.buf, c)
		}
	}
}

// element ends an element at its comma, or at the bracket that ends the list too.
func (s *splitter) element(c byte, long bool) ([]byte, error) {
	item, first := bytes.TrimSpace(s.buf), s.first
	s.first = false
	if c == ']' {
		s.items = false // what follows must be the end
		if err := s.tail(); err != nil {
			return nil, err
		}
		if len(item) == 0 && first && !long {
			return nil, io.EOF
		}
	}
	if long {
		return nil, errLong()
	}
	return item, nil
}

// tail reads what follows the list: the end of its object, and nothing else.
func (s *splitter) tail() error {
	closed := false
	for {
		c, err := s.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && closed:
			return nil
		case errors.Is(err, io.EOF):
			return errSplit{"the body ends before its object does"}
		case err != nil:
			return err
		case c == ' ', c == '\t', c == '\r', c == '\n':
		case c == '}' && !closed:
			closed = true
		default:
			return errSplit{"there must be nothing but items in the body"}
		}
	}
}
