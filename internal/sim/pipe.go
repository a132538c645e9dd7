package sim

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// PipeListener is a net.Listener within the process: each Dial hands one end of a
// net.Pipe to Accept. It needs no port and no kernel, so server and client may live in
// one testing/synctest bubble. A write blocks until the other end reads. It is safe for
// concurrent use and made by NewPipeListener.
type PipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipeListener returns an open listener. Inside a synctest bubble it must be made there.
func NewPipeListener() *PipeListener {
	return &PipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next Dial. It returns net.ErrClosed once the listener is closed.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Dial connects to the listener, whatever network and addr are: its shape is that of
// http.Transport.DialContext. It waits for an Accept and returns a *net.OpError around
// the context's error or, on a closed listener, net.ErrClosed.
func (l *PipeListener) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	select {
	case <-l.closed: // a select would choose at random if an Accept is waiting too
		return nil, l.dialError(network, net.ErrClosed)
	default:
	}
	client, server := net.Pipe()
	var err error
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = client.Close()
	_ = server.Close()
	return nil, l.dialError(network, err)
}

func (l *PipeListener) dialError(network string, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: l.Addr(), Err: err}
}

// Client returns a new HTTP client all of whose connections go to the listener, without
// any time-out. The caller ends its idle connections with CloseIdleConnections.
func (l *PipeListener) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, MaxIdleConnsPerHost: 1000}}
}

// Close ends Accept and every waiting Dial; connections that exist stay. A second Close
// does nothing.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address of the network "pipe".
func (l *PipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
