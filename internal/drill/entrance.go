package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

const (
	knockEvery = 100 * time.Millisecond // how often an api is asked for its readiness
	maxPassed  = 1 << 20                // bytes of a request that is passed on
)

// entrance is a load balancer before several api processes, of the simplest kind: it asks
// each whether it is ready, and sends what comes to those that are, in turn. What could not
// be connected goes to the next one; everything else is the caller's to see. It is safe for
// concurrent use.
type entrance struct {
	base   string
	pass   *http.Transport
	ask    *http.Client
	server *http.Server
	stop   context.CancelFunc
	works  sync.WaitGroup

	mu    sync.Mutex
	ready []string // hosts
	last  int
	all   []string
}

// openEntrance serves on a port of its own until close.
func openEntrance(ctx context.Context) (*entrance, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the entrance: %w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	e := &entrance{
		base: "http://" + l.Addr().String(), stop: stop,
		pass: &http.Transport{DisableKeepAlives: true},
		ask:  &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "api"
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport: e, FlushInterval: -1,
	}
	e.server = &http.Server{Handler: proxy, ReadHeaderTimeout: 5 * time.Second}
	e.works.Go(func() { _ = e.server.Serve(l) }) // until it is closed
	e.works.Go(func() { e.watch(ctx) })
	return e, nil
}

// close cuts what is under way.
func (e *entrance) close() {
	e.stop()
	_ = e.server.Close()
	e.works.Wait()
}

// lead has one more api behind the entrance from now on, as soon as it is ready.
func (e *entrance) lead(i *instance) {
	e.mu.Lock()
	e.all = append(e.all, i.base[len("http://"):])
	e.mu.Unlock()
	e.look()
}

func (e *entrance) watch(ctx context.Context) {
	tick := time.NewTicker(knockEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.look()
		case <-ctx.Done():
			return
		}
	}
}

// look asks every api behind for its readiness.
func (e *entrance) look() {
	e.mu.Lock()
	all := e.all
	e.mu.Unlock()
	var ready []string
	for _, host := range all {
		res, err := e.ask.Get("http://" + host + "/readyz")
		if err != nil {
			continue
		}
		_ = res.Body.Close() // the status tells
		if res.StatusCode == http.StatusOK {
			ready = append(ready, host)
		}
	}
	e.mu.Lock()
	e.ready = ready
	e.mu.Unlock()
}

// turn returns the ready hosts, beginning with the one whose turn it is.
func (e *entrance) turn() (hosts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	for i := range e.ready {
		hosts = append(hosts, e.ready[(e.last+i)%len(e.ready)])
	}
	return hosts
}

var errNobodyReady = errors.New("no api is ready")

// RoundTrip sends a request to the api whose turn it is; to the next one only where no
// connection came about.
func (e *entrance) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxPassed)); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
	}
	err := errNobodyReady
	for _, host := range e.turn() {
		out := r.Clone(r.Context())
		out.URL.Host = host
		if r.Body != nil {
			out.Body = io.NopCloser(bytes.NewReader(body))
		}
		var res *http.Response
		if res, err = e.pass.RoundTrip(out); err == nil {
			return res, nil
		}
		if failed, ok := errors.AsType[*net.OpError](err); !ok || failed.Op != "dial" {
			return nil, err
		}
	}
	return nil, err
}
