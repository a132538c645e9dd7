package dispatcher

import (
	"net"
	"sync"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// line is a node's one connection to the broker. It has a length, and can be made to
// carry nothing for a while: then nothing is refused and nothing is lost.
type line struct {
	net.Conn
	distance time.Duration // how long whatever comes from the broker is under way
	comes    chan arrival
	come     arrival // being read

	mu    sync.Mutex
	still chan struct{} // closed when the line carries again; nil: it does
	kept  []byte        // written meanwhile
}

// arrival is what comes at one time, and the fault that ends the connection with it.
type arrival struct {
	at   time.Time
	data []byte
	err  error
}

func newLine(broker *natsd.Server, distance time.Duration) (*line, error) {
	conn, err := broker.InProcessConn()
	if err != nil {
		return nil, err
	}
	l := &line{Conn: conn, distance: distance, comes: make(chan arrival, 1024)}
	go l.pump()
	return l, nil
}

// InProcessConn is called by the client, once.
func (l *line) InProcessConn() (net.Conn, error) { return l, nil }

// cut ends the connection, for both sides.
func (l *line) cut() { _ = l.Close() }

// hold makes the line carry nothing until release.
func (l *line) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.still = make(chan struct{})
}

func (l *line) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.Conn.Write(l.kept) // a broken connection shows at the next write
	close(l.still)
	l.still, l.kept = nil, nil
}

// pump takes whatever comes, as a socket's buffers do, until the connection ends.
func (l *line) pump() {
	for {
		buf := make([]byte, 32<<10)
		n, err := l.Conn.Read(buf)
		l.comes <- arrival{at: time.Now().Add(l.distance), data: buf[:n], err: err}
		if err != nil {
			return
		}
	}
}

// Read is called by one goroutine at a time.
func (l *line) Read(b []byte) (int, error) {
	for len(l.come.data) == 0 {
		if l.come.err != nil {
			return 0, l.come.err
		}
		l.come = <-l.comes
		time.Sleep(time.Until(l.come.at))
		l.mu.Lock()
		still := l.still
		l.mu.Unlock()
		if still != nil {
			<-still
		}
	}
	n := copy(b, l.come.data)
	l.come.data = l.come.data[n:]
	return n, nil
}

func (l *line) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.still != nil {
		l.kept = append(l.kept, b...)
		return len(b), nil
	}
	return l.Conn.Write(b)
}

// Deadlines are the client's guard while it connects.
func (l *line) SetDeadline(time.Time) error     { return nil }
func (l *line) SetReadDeadline(time.Time) error { return nil }
