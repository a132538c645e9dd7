package drill

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	wideDoor   = 1024
	knockFor   = 150 * time.Millisecond
	mostKnocks = 8
)

var errNotShut = errors.New("this system does not let a port hang: connections come through although nobody accepts them")

// door is a listener that can be made to hang: whoever connects while it is shut gets
// neither a connection nor a refusal, as behind a firewall that drops packets.
type door struct {
	*net.TCPListener
	mu      sync.Mutex
	open    chan struct{} // closed while the door is open
	knocked []net.Conn
}

func openDoor(ctx context.Context) (*door, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{TCPListener: l.(*net.TCPListener), open: make(chan struct{})}
	close(d.open)
	return d, nil
}

// Accept gives nothing out while the door is shut.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.TCPListener.Accept()
	<-d.gate()
	return conn, err
}

func (d *door) gate() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// shut makes the door hang. It fills the kernel's queue with connections of its own until
// one more does not come through.
func (d *door) shut(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = make(chan struct{})
	if err := d.backlog(0); err != nil {
		return err
	}
	for range mostKnocks {
		conn, err := (&net.Dialer{Timeout: knockFor}).DialContext(ctx, "tcp", d.Addr().String())
		if err != nil {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				return nil
			}
			return fmt.Errorf("shut the door: %w", err)
		}
		d.knocked = append(d.knocked, conn)
	}
	return errNotShut
}

// reopen lets connections through again. A door that is open is left alone.
func (d *door) reopen() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.open:
		return nil
	default:
	}
	for _, conn := range d.knocked {
		_ = conn.Close() // nothing was ever said on it
	}
	d.knocked = nil
	err := d.backlog(wideDoor)
	close(d.open)
	return err
}

// Close closes the door for good, and lets go who waits in Accept.
func (d *door) Close() error {
	err := d.TCPListener.Close()
	_ = d.reopen() // a closed port has no backlog to widen
	return err
}
