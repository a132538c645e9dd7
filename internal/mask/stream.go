package mask

import "strings"

// Stream shows a text that comes in pieces. A placeholder that a piece breaks off is held
// back until it is whole, so less than the longest one is held at any time. It is not safe
// for concurrent use.
type Stream struct {
	book *Book
	out  func(text string)
	held string
}

// Stream returns a stream that shows to out.
func (b *Book) Stream(out func(text string)) *Stream { return &Stream{book: b, out: out} }

// Write takes the next piece.
func (s *Stream) Write(piece string) {
	text := s.held + piece
	s.held = ""
	if i := strings.LastIndexByte(text, '['); i >= 0 && begun(text[i:]) {
		text, s.held = text[:i], text[i:]
	}
	if text != "" {
		s.out(s.book.Show(text))
	}
}

// Close shows what is held back: the text has ended.
func (s *Stream) Close() {
	if s.held != "" {
		s.out(s.held)
	}
	s.held = ""
}
