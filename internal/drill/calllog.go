package drill

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// call is one call as its vendor saw it.
type call struct {
	at, end time.Time // end is zero while it runs
	status  int       // 0: the connection broke, or nothing was said
	left    bool      // the caller left before the end
}

func (c *call) took() time.Duration { return c.end.Sub(c.at) }

// callLog notes every call of a vendor, or of a tool, exactly. It is safe for concurrent use.
type callLog struct {
	path string // the end of the path of the calls that are noted; empty: those for chat

	mu    sync.Mutex
	calls []*call
}

// noted returns a handler that notes the calls of one kind and hands all on to next.
func (l *callLog) noted(next http.Handler) http.Handler {
	path := l.path
	if path == "" {
		path = "/chat/completions"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, path) {
			next.ServeHTTP(w, r)
			return
		}
		c := l.begin()
		s := &statused{ResponseWriter: w}
		defer func() { l.finish(c, s.status, r.Context().Err() != nil) }()
		next.ServeHTTP(s, r)
	})
}

func (l *callLog) begin() *call {
	c := &call{at: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
	return c
}

func (l *callLog) finish(c *call, status int, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.end, c.status, c.left = time.Now(), status, left
}

// all returns the calls in the order of their arrival. What runs has no end yet.
func (l *callLog) all() []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]call, len(l.calls))
	for i, c := range l.calls {
		out[i] = *c
	}
	return out
}

// statused remembers the status that was sent.
type statused struct {
	http.ResponseWriter
	status int
}

func (s *statused) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statused) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return s.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush and take over the connection.
func (s *statused) Unwrap() http.ResponseWriter { return s.ResponseWriter }
