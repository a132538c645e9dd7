package llm

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxDrain bounds what a vendor may send after [DONE].
const maxDrain = 64 << 10

// stream is the body of a streamed answer: it reads the vendor's events and gives out the few shapes that langchaingo
// understands. Read and Close are safe to call at the same time; when Close returns, the upstream body has been read to
// EOF or closed, and no Read is under way.
type stream struct {
	doer      *doer
	call      *call
	watch     *watch
	body      io.ReadCloser
	requestID string
	over      atomic.Bool // [DONE] or EOF was seen: Read touches the body no more

	mu     sync.Mutex
	lines  lines
	norm   normaliser
	err    error // what Read returns once norm.out is empty
	atEOF  bool  // the body was read to its EOF
	closed bool
}

func newStream(d *doer, k *call, resp *http.Response, w *watch) *stream {
	s := &stream{
		doer:      d,
		call:      k,
		watch:     w,
		body:      resp.Body,
		requestID: requestID(resp.Header),
		lines:     lines{in: bufio.NewReader(resp.Body)},
	}
	s.norm.toolFrom = &k.toolFrom
	// Some vendors send their streams as text/plain. JSON and HTML are refused; whatever else is judged by its lines.
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	s.norm.suspect = media == "application/json" || media == "text/html"
	return s
}

// Read gives out normalised events.
func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.norm.out.Len() == 0 && s.err == nil {
		s.watch.wait()
		for s.norm.out.Len() == 0 && s.err == nil {
			s.step()
		}
		s.watch.got()
	}
	if s.norm.out.Len() > 0 {
		return s.norm.out.Read(p)
	}
	return 0, s.err
}

// step handles one line.
func (s *stream) step() {
	if s.watch.ended() { // buffered lines must not outlive the call
		s.lost(errTransport)
		return
	}
	line, err := s.lines.next()
	if err != nil {
		s.lost(err)
		return
	}
	event, fail := s.norm.line(line)
	switch {
	case fail != nil:
		s.failed(fail)
	case event == eventEnd:
		s.end(true)
	case event == eventToken:
		s.watch.token()
	}
}

// lost handles the end of the body, whether it was meant or not. What follows a finish reason cannot spoil the answer.
func (s *stream) lost(err error) {
	s.atEOF = err == io.EOF
	if s.norm.finish != "" || s.atEOF {
		s.end(false)
		return
	}
	if errors.Is(err, errTooLarge) {
		s.failed(&Error{Kind: Malformed, Err: errTooLarge})
		return
	}
	fail := s.watch.blame(err)
	if fail.Kind == Unavailable && errors.Is(err, io.ErrUnexpectedEOF) {
		fail.Kind = Truncated
	}
	s.failed(fail)
}

func (s *stream) end(done bool) {
	s.over.Store(true)
	if fail := s.norm.end(done); fail != nil {
		s.failed(fail)
		return
	}
	s.err = io.EOF
}

func (s *stream) failed(fail *Error) {
	fail.RequestID = s.requestID
	s.err = s.doer.failed(s.call, fail)
}

// Close ends the upstream call: after [DONE] by waiting, within bounds, for the EOF; else at once.
func (s *stream) Close() error {
	if !s.over.Load() {
		s.watch.cancel() // a Read that is blocked holds mu
		_ = s.body.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.over.Load() && !s.atEOF {
		timer := s.watch.drain()
		s.atEOF = s.lines.drain(maxDrain)
		timer.Stop()
	}
	s.call.cut.Store(!s.atEOF)
	_ = s.body.Close()
	s.watch.stop()
	s.err = errors.New("read of a closed stream")
	s.norm.out.Reset()
	return nil
}
