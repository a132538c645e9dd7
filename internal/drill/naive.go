package drill

import (
	"context"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// naiveWait is how long the naive design lets anybody wait: 10 s.
const naiveWait = 10 * time.Second / Scale

// naive is the design that Sluice is held against: one line in the order of arrival, a
// fixed number of workers, an answer without a vendor after 10 s of waiting, and nothing
// that notices when a customer leaves. It has every advantage besides: it lives in this
// process, and nothing of it is durable.
type naive struct {
	model llms.Model
	line  chan *stay
	work  sync.WaitGroup

	mu   sync.Mutex // guards what follows
	busy []span
}

// span is a vendor's call, and whether anybody was there for its answer.
type span struct {
	from, to time.Time
	gone     bool
}

// stay is a customer in the line of the naive design.
type stay struct {
	visit
	sent  time.Time
	mu    sync.Mutex // guards gone and the visit
	gone  bool
	over  chan struct{} // closed at the end of the answer
	begun chan struct{} // closed at its first word
}

// mostNaive is the room of the line.
const mostNaive = 100_000

// startNaive starts workers on a vendor's client. stop must follow, when no customer comes
// any more.
func startNaive(model llms.Model, workers int) *naive {
	n := &naive{model: model, line: make(chan *stay, mostNaive)}
	for range workers {
		n.work.Go(func() {
			for s := range n.line {
				n.serve(s)
			}
		})
	}
	return n
}

func (n *naive) stop() {
	close(n.line)
	n.work.Wait()
}

// spans returns the calls that were made.
func (n *naive) spans() []span {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]span(nil), n.busy...)
}

// come is a customer's visit: asked at its time after begun.
func (n *naive) come(ctx context.Context, c customer, begun time.Time) visit {
	s := &stay{visit: visit{customer: c}, over: make(chan struct{}), begun: make(chan struct{})}
	if s.fault = sleep(ctx, time.Until(begun.Add(c.at))); s.fault != nil {
		return s.visit
	}
	s.sent = time.Now()
	n.line <- s
	limit, patience := time.NewTimer(naiveWait), time.NewTimer(c.patience)
	defer limit.Stop()
	defer patience.Stop()
	select {
	case <-s.begun:
		<-s.over
	case <-patience.C:
		s.leave(func() { s.left = true })
	case <-limit.C:
		s.leave(func() { s.ended, s.reason = time.Since(s.sent), chat.ReasonOverdue })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visit
}

// leave ends the stay without the vendor's answer, unless that has begun.
func (s *stay) leave(how func()) {
	s.mu.Lock()
	waits := s.first == 0
	if waits {
		s.gone = true
		how()
	}
	s.mu.Unlock()
	if !waits {
		<-s.over
	}
}

// serve calls the vendor for whoever is next, unless the limit has passed meanwhile.
func (n *naive) serve(s *stay) {
	defer close(s.over)
	from := time.Now()
	if from.Sub(s.sent) >= naiveWait {
		return
	}
	_, err := n.model.GenerateContent(context.Background(),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, s.text)},
		llms.WithStreamingFunc(func(context.Context, []byte) error { s.hear(); return nil }))
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gone {
		s.ended, s.vendor, s.fault = time.Since(s.sent), err == nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy = append(n.busy, span{from, time.Now(), s.gone})
}

// hear is the first word of the answer, if the customer is still there.
func (s *stay) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 && !s.gone {
		s.first = time.Since(s.sent)
		close(s.begun)
	}
}
