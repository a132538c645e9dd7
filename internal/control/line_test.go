package control

import (
	"net"
	"sync"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// heldLine makes connections to a broker that can be made to carry nothing for a while,
// as one to a paused process does: nothing is refused, nothing is lost, nothing moves.
type heldLine struct {
	broker *natsd.Server

	mu    sync.Mutex
	conns []*heldConn
}

// InProcessConn is called by the client for each connection.
func (l *heldLine) InProcessConn() (net.Conn, error) {
	conn, err := l.broker.InProcessConn()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	held := &heldConn{Conn: conn, wake: make(chan struct{}, 1)}
	l.conns = append(l.conns, held)
	go held.pump()
	return held, nil
}

func (l *heldLine) hold(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.hold(on)
	}
}

// heldConn takes in whatever comes, as a socket's buffers do: a broker whose writes
// stood still would close the connection, and that is another fault.
type heldConn struct {
	net.Conn
	wake chan struct{} // something changed for the reader

	mu   sync.Mutex
	held bool
	came []byte
	kept []byte // written while held: a writer must not block, it has the client's lock
	err  error
}

func (c *heldConn) pump() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.Conn.Read(buf)
		c.mu.Lock()
		c.came, c.err = append(c.came, buf[:n]...), err
		c.mu.Unlock()
		c.rouse()
		if err != nil {
			return
		}
	}
}

func (c *heldConn) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *heldConn) hold(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = on
	if !on {
		_, _ = c.Conn.Write(c.kept) // a broken connection shows at the next write
		c.kept = nil
		c.rouse()
	}
}

// Read is called by one goroutine at a time.
func (c *heldConn) Read(b []byte) (int, error) {
	for ; ; <-c.wake {
		c.mu.Lock()
		if !c.held && len(c.came) > 0 {
			n := copy(b, c.came)
			c.came = c.came[n:]
			if len(c.came) > 0 {
				c.rouse()
			}
			c.mu.Unlock()
			return n, nil
		}
		err := c.err
		c.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

func (c *heldConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		c.kept = append(c.kept, b...)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// Deadlines are the client's guard while it connects; nothing is held then.
func (c *heldConn) SetDeadline(time.Time) error     { return nil }
func (c *heldConn) SetReadDeadline(time.Time) error { return nil }
