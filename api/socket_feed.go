package api

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"sluice/internal/chat"
	"sluice/internal/trace"
)

// page is how many events are read from the log at once.
const page = 200

// feed gives a session's events and deltas to one socket: first what the log has, then
// what comes. Event seq grows by one, whatever the listener missed or heard twice.
type feed struct {
	*socket
	listener  *listener
	cursor    uint64       // seq of the newest event that was handed on
	events    []chat.Event // read and not handed on yet
	head      uint64
	recovered bool
	waits     map[string]*wait // by ticket
	signs     signs
	taken     bool // the newest word about its owner that was handed on: a person
}

// openFeed listens and then reads the first page after the client's seq; without one,
// the past is not replayed. false: the socket is ending.
func (k *socket) openFeed(ctx context.Context, after *uint64) (*feed, bool) {
	select {
	case <-k.hub.ready():
	case <-k.over:
		return nil, false
	}
	f := &feed{socket: k, listener: k.hub.listen(k.tenant.Name, k.session, k.cfg.Lag), waits: map[string]*wait{}}
	if err := f.begin(ctx, after); err != nil {
		f.listener.close()
		k.unavailable(err)
		return nil, false
	}
	return f, true
}

func (f *feed) begin(ctx context.Context, after *uint64) (err error) {
	if after == nil {
		_, f.head, _, err = f.queue.Events(ctx, f.tenant.Name, f.session, 0, 0)
		f.cursor, f.recovered = f.head, true
		return err
	}
	f.cursor = *after
	f.events, f.head, f.recovered, err = f.queue.Events(ctx, f.tenant.Name, f.session, f.cursor, page)
	if err != nil {
		return err
	}
	if f.head < f.cursor {
		// The client has seen more than there is: its past is not ours. It gets all we have.
		f.recovered = false
		f.events, f.head, _, err = f.queue.Events(ctx, f.tenant.Name, f.session, 0, page)
		f.cursor = 0
	}
	if !f.recovered {
		f.cursor = f.head
		if len(f.events) > 0 {
			f.cursor = f.events[0].Seq - 1
		}
	}
	return err
}

// run hands on until the socket ends, and writes what the reader has to say in between.
// Nobody else writes meanwhile.
func (f *feed) run(ctx context.Context) {
	defer f.listener.close()
	defer f.readLast(ctx)
	defer close(f.fed)
	if !f.replay(ctx) || !f.catchUp(ctx, f.head) {
		return
	}
	ping := time.NewTicker(f.cfg.Ping)
	defer ping.Stop()
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-f.over:
			return
		case <-f.listener.Bell:
			items, open := f.listener.take()
			asked := false
			for _, it := range items {
				if !f.give(ctx, it) {
					return
				}
				asked = asked || it.Event != nil && it.Event.Who == chat.ByCustomer
			}
			if !open {
				f.end(closeSlow, "too slow")
				return
			}
			if asked {
				look.Reset(f.soon())
			}
		case frame := <-f.out:
			if !f.write(ctx, frame) {
				return
			}
		case <-look.C:
			if again := f.showPlaces(ctx); again > 0 {
				look.Reset(again)
			}
		case seq := <-f.reads.news:
			f.reading(ctx, seq)
		case <-f.reads.due:
			f.readDue(ctx)
		case <-ping.C:
			f.wg.Go(func() { f.ping(ctx) })
		}
	}
}

func (f *feed) give(ctx context.Context, it item) bool {
	switch {
	case it.Delta != nil && f.taken: // it set out before the person came, and was overtaken
		return true
	case it.Delta != nil:
		return f.write(ctx, deltaFrame{Type: "delta", Delta: *it.Delta})
	case it.Typing != nil:
		return f.typing(ctx, *it.Typing)
	case it.Event.Seq <= f.cursor:
		return true
	case it.Event.Seq == f.cursor+1:
		return f.handOn(ctx, *it.Event)
	}
	return f.catchUp(ctx, it.Event.Seq)
}

// catchUp reads from the log until the event with the seq upTo was handed on.
func (f *feed) catchUp(ctx context.Context, upTo uint64) bool {
	for f.cursor < upTo {
		events, _, ok, err := f.queue.Events(ctx, f.tenant.Name, f.session, f.cursor, page)
		if err != nil {
			f.unavailable(err)
			return false
		}
		if !ok || len(events) == 0 {
			// They expired under our hands: the client learns it from its next welcome.
			f.end(closeUnavailable, "events have expired")
			return false
		}
		f.events = events
		if !f.replay(ctx) {
			return false
		}
	}
	return true
}

// replay hands on the page that was read.
func (f *feed) replay(ctx context.Context) bool {
	for _, e := range f.events {
		if !f.handOn(ctx, e) {
			return false
		}
	}
	f.events = nil
	return true
}

func (f *feed) handOn(ctx context.Context, e chat.Event) bool {
	f.cursor = e.Seq
	f.track(e)
	if e.Kind == chat.KindOwner {
		f.taken = e.Owner == chat.OwnerHuman
	}
	if !f.write(ctx, eventFrame{Type: "event", Event: e}) {
		return false
	}
	if now := time.Now(); e.Status.Ended() && now.Sub(e.At) < traceable {
		trace.Past(trace.Of(ctx, e.Ticket), "deliver", e.At, now, attribute.String("sluice.way", "socket"))
	}
	return f.settled(ctx, e)
}

// traceable is how long after its end an answer that goes out stands in its trace: later
// it is history that is read again.
const traceable = 10 * time.Minute
