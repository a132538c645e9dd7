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
// neither a connection nor a refusal, as behind a firewall that drops packets. One
// goroutine accepts, and another one shuts and reopens.
type door struct {
	*net.TCPListener
	mu      sync.Mutex
	open    chan struct{} // closed while the door is open
	holds   chan struct{} // of this shutting: Accept holds a connection back
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
	d.mu.Lock()
	open, holds := d.open, d.holds
	d.mu.Unlock()
	select {
	case <-open:
	case holds <- struct{}{}:
		<-open
	}
	return conn, err
}

// shut makes the door hang: Accept holds back one connection of our own, and others fill
// the kernel's queue until one more does not come through.
func (d *door) shut(ctx context.Context) error {
	d.mu.Lock()
	holds := make(chan struct{}, 1)
	d.open, d.holds = make(chan struct{}), holds
	d.mu.Unlock()
	if err := d.backlog(0); err != nil {
		return err
	}
	if through, err := d.knock(ctx); !through {
		return err
	}
	select {
	case <-holds:
	case <-ctx.Done():
		return ctx.Err()
	}
	for range mostKnocks {
		if through, err := d.knock(ctx); !through {
			return err
		}
	}
	return errNotShut
}

// knock reports whether one more connection comes through.
func (d *door) knock(ctx context.Context) (through bool, err error) {
	conn, err := (&net.Dialer{Timeout: knockFor}).DialContext(ctx, "tcp", d.Addr().String())
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("shut the door: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.knocked = append(d.knocked, conn)
	return true, nil
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
