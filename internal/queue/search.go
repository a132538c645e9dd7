package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How many messages of a lane, and of the stories, a search looks at, the newest of those that
// it may be about; how many tickets it reads at once.
const (
	mostOpen    = 10_000
	mostTold    = 20_000
	searchWidth = 16
)

// Known is what the engine knows of the tickets that a filter takes, as it was when it was
// looked: their places, newest first. One may have come to another status since.
type Known struct {
	Marks []chat.TicketMark
	Cut   bool // there are more, older ones, which nobody has looked at
}

// Known looks for tickets that a filter takes: the open ones in their lanes, those that have
// ended in the stories. Of the latter it looks only at those that the ledger does not have yet,
// unless all is true. It looks at the newest of each, at all of them if deep is true. Whoever asks the ledger afterwards misses none: a story is told
// before its ticket leaves the lane, and acknowledged after the ledger has it.
func (q *Queue) Known(ctx context.Context, f chat.TicketFilter, all, deep bool) (Known, error) {
	k := &knowing{filter: f, deep: deep, seen: map[string]bool{}}
	if f.Open() {
		for _, lane := range chat.Lanes() {
			if f.Lane != "" && f.Lane != lane {
				continue
			}
			subject := "chat." + string(lane) + "." + anyToken(f.Tenant) + "." + anyToken(f.Session) + ".*"
			if err := k.walk(ctx, q.lanes[lane], subject); err != nil {
				return Known{}, fmt.Errorf("search lane %s: %w", lane, err)
			}
		}
	}
	if f.Ended() {
		from := uint64(1)
		if !all {
			var err error
			if from, err = q.unrecordedStories(ctx); err != nil {
				return Known{}, err
			}
		}
		if err := k.scan(ctx, q.story, "story."+anyToken(f.Tenant)+".*", from, k.noteEnded); err != nil {
			return Known{}, fmt.Errorf("search the stories: %w", err)
		}
	}
	slices.SortFunc(k.Marks, chat.TicketMark.Compare)
	return k.Known, nil
}

func anyToken(name string) string {
	if name == "" {
		return "*"
	}
	return name
}

// unrecordedStories returns the first place of the stories from which on the ledger may lack some.
func (q *Queue) unrecordedStories(ctx context.Context) (uint64, error) {
	cons, err := q.story.Consumer(ctx, recordConsumer)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return 1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read recorder's place: %w", err)
	}
	return cons.CachedInfo().AckFloor.Stream + 1, nil
}

// knowing is one search under way. It is safe for concurrent use.
type knowing struct {
	filter chat.TicketFilter
	deep   bool // nothing is left out, however many there are

	mu sync.Mutex
	Known
	seen map[string]bool
}

// sighting is as much of a ticket as a filter is about.
type sighting struct {
	ID         string      `json:"id"`
	Tenant     string      `json:"tenant"`
	Session    string      `json:"session"`
	Lane       chat.Lane   `json:"lane"`
	Status     chat.Status `json:"status"`
	Route      chat.Route  `json:"route"`
	Reason     chat.Reason `json:"reason"`
	AcceptedAt time.Time   `json:"accepted_at"`
}

func (s *sighting) ticket() *chat.Ticket {
	return &chat.Ticket{
		ID: s.ID, Tenant: s.Tenant, Session: s.Session, Lane: s.Lane, Status: s.Status, Route: s.Route, Reason: s.Reason,
		AcceptedAt: s.AcceptedAt,
	}
}

// noteOpen notes a ticket of a lane, whose present status is not looked at.
func (k *knowing) noteOpen(t *chat.Ticket) {
	anyStatus := k.filter
	anyStatus.Status, anyStatus.Life = "", ""
	if anyStatus.Takes(t) {
		k.note(t)
	}
}

func (k *knowing) noteEnded(t *chat.Ticket) {
	if k.filter.Takes(t) {
		k.note(t)
	}
}

func (k *knowing) note(t *chat.Ticket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.seen[t.ID] {
		k.seen[t.ID] = true
		k.Marks = append(k.Marks, chat.MarkOf(t))
	}
}

// scan gives the tickets of the stories from a place on to visit.
func (k *knowing) scan(ctx context.Context, s jetstream.Stream, subject string, from uint64, visit func(*chat.Ticket)) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	if info.State.Msgs == 0 || from > info.State.LastSeq {
		return nil
	}
	cfg := jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject}, InactiveThreshold: readerLeft,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, info.State.FirstSeq),
	}
	most := uint64(mostTold)
	if k.deep {
		most = math.MaxUint64
	}
	cut, err := eachNewest(ctx, s, cfg, most, func(body []byte) {
		if t := seen(body); t != nil {
			visit(t)
		}
	})
	k.Cut = k.Cut || cut
	return err
}

// seen reads as much of a ticket as a filter is about; nil: it cannot be read.
func seen(body []byte) *chat.Ticket {
	var s sighting
	if json.Unmarshal(body, &s) != nil {
		return nil
	}
	return s.ticket()
}

// eachNewest gives what a consumer brings to visit, as it was when it was called: where that
// is more than most, the newest ones, and cut is true.
func eachNewest(ctx context.Context, s jetstream.Stream, cfg jetstream.OrderedConsumerConfig, most uint64, visit func(body []byte)) (cut bool, err error) {
	for {
		cons, err := s.OrderedConsumer(ctx, cfg)
		if err != nil {
			return cut, err
		}
		info, err := cons.Info(ctx)
		if err != nil {
			return cut, err
		}
		if info.NumPending <= most || cut {
			err = drainOnce(ctx, s, cons, info, visit)
			return cut, err
		}
		_ = s.DeleteConsumer(ctx, info.Name)
		state, err := s.Info(ctx)
		if err != nil {
			return cut, err
		}
		cut, cfg.OptStartSeq = true, max(cfg.OptStartSeq, state.State.LastSeq+1-min(state.State.LastSeq, most))
	}
}

// drainOnce gives what is pending at a consumer to visit, and removes the consumer.
func drainOnce(ctx context.Context, s jetstream.Stream, cons jetstream.Consumer, info *jetstream.ConsumerInfo, visit func([]byte)) error {
	defer func() { _ = s.DeleteConsumer(context.WithoutCancel(ctx), info.Name) }()
	if info.NumPending == 0 {
		return nil
	}
	entries, err := cons.Messages()
	if err != nil {
		return err
	}
	defer entries.Stop()
	for {
		msg, err := entries.Next(jetstream.NextMaxWait(newestLimit))
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		visit(msg.Data())
		if meta.NumPending == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
