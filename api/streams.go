package api

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// Bounds of the operators' streams.
const (
	maxStreams  = 100 // at once on a node
	streamPace  = time.Second
	topicLimit  = 3 * time.Second // how long it may take to make one
	streamRetry = 5 * time.Second
)

// topic is something that every stream tells whenever it has changed.
type topic struct {
	event string
	make  func(ctx context.Context) (any, error)
}

// news is how a topic stands, encoded; N grows with each change.
type news struct {
	event string // the topic's, or problem where it could not be made
	body  []byte
	n     uint64
}

// streams makes what all operators' streams of a node tell: once, however many there are,
// and only while there is one. It is safe for concurrent use.
type streams struct {
	topics []topic
	log    zerolog.Logger
	wanted chan struct{} // holds one token when the first stream has come

	mu      sync.Mutex // guards the rest
	open    int
	latest  map[string]news
	changed chan struct{} // closed when a topic has changed
}

func newStreams(log zerolog.Logger, topics ...topic) *streams {
	return &streams{
		topics: topics, log: log, wanted: make(chan struct{}, 1), latest: map[string]news{}, changed: make(chan struct{}),
	}
}

// enter takes one of the places, or refuses.
func (s *streams) enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= maxStreams {
		return nil, &chat.Error{
			Kind: chat.Overloaded, Code: codeStreams, RetryAfter: streamRetry, Detail: "too many streams are open on this node; close one, or ask for the overview",
		}
	}
	if s.open++; s.open == 1 {
		select {
		case s.wanted <- struct{}{}:
		default:
		}
	}
	return sync.OnceFunc(s.leave), nil
}

func (s *streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open == 0 {
		for event, was := range s.latest {
			s.latest[event] = news{n: was.n} // nobody keeps it fresh
		}
	}
}

// run makes the topics until ctx ends.
func (s *streams) run(ctx context.Context) {
	for {
		select {
		case <-s.wanted:
		case <-ctx.Done():
			return
		}
		for s.listened() && ctx.Err() == nil {
			for _, t := range s.topics {
				s.make(ctx, t)
			}
			rest(ctx, streamPace)
		}
	}
}

func (s *streams) listened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

// make makes a topic anew. Where that fails its place is taken by the problem.
func (s *streams) make(ctx context.Context, t topic) {
	asked, cancel := context.WithTimeout(ctx, topicLimit)
	defer cancel()
	event, body := t.event, []byte(nil)
	v, err := t.make(asked)
	if err == nil {
		body, err = json.Marshal(v)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.log.Debug().Err(err).Str("stage", "api").Str("topic", t.event).Msg("operators' streams cannot tell")
		event = "problem"
		body, _ = json.Marshal(problemOf(err)) // it has texts and numbers only
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.latest[t.event]
	if s.open == 0 || was.event == event && bytes.Equal(was.body, body) {
		return
	}
	s.latest[t.event] = news{event: event, body: body, n: was.n + 1}
	close(s.changed)
	s.changed = make(chan struct{})
}

// since returns the topics that have changed since a stream has told those of told, which
// then has them, and what is closed when there is more. Of several changes it gets the last.
func (s *streams) since(told map[string]uint64) (all []news, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.topics {
		if now := s.latest[t.event]; now.body != nil && now.n > told[t.event] {
			all = append(all, now)
			told[t.event] = now.n
		}
	}
	return all, s.changed
}

// state is the overview as the streams tell it.
func (a *API) state(ctx context.Context) (Overview, error) {
	out, err := a.overview(ctx, nil)
	if err != nil {
		return Overview{}, err
	}
	return out.Body, nil
}

// rest waits on a timer or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
