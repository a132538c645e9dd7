package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// Config describes what Open creates in JetStream and how long it keeps it.
type Config struct {
	Bounds   map[chat.Lane]int // accepted and not ended, per lane; every lane is required
	Replicas int               // of every stream and bucket; 0: 1
	// MaxStore is the store's size in bytes, 0: not known. From nine tenths of it, or of
	// the account's own limit, Accept refuses with ErrStorage, so that what was accepted
	// can still be answered.
	MaxStore   int64
	KeepEvents time.Duration // talk log and stories; 0: 7 days
	KeepTicket time.Duration // an ended ticket in the bucket; 0: 24 h
	KeepKey    time.Duration // an idempotency key; 0: 24 h
	// Fresh says that no other process can be using the streams (the data directory
	// is ours alone): lane consumers are made anew, so that nothing that a former
	// process held waits for its AckWait.
	Fresh bool
	// Before is asked before each write of a ticket's life; an error keeps the write
	// from happening. Nil: no one is asked. Tests stop a process here.
	Before func(p Point, ticket string) error
	Log    zerolog.Logger
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	for _, l := range chat.Lanes() {
		if c.Bounds[l] < 1 {
			return fmt.Errorf("queue config: Bounds[%s] must be at least 1, is %d", l, c.Bounds[l])
		}
	}
	if c.MaxStore < 0 || c.Replicas < 0 || c.KeepEvents < 0 || c.KeepTicket < 0 || c.KeepKey < 0 {
		return errors.New("queue config: MaxStore, Replicas and the Keep times must not be negative")
	}
	return nil
}

// keepClaim is how long a claim keeps the same from being done again.
const keepClaim = 400 * 24 * time.Hour

// Errors that callers decide by.
var (
	ErrFull     = errors.New("the lane is full")
	ErrStorage  = errors.New("the store is full")
	ErrNotFound = errors.New("not found")
	ErrEnded    = errors.New("the ticket has ended")
	ErrLost     = errors.New("the ticket is held by someone else")
)

// Queue speaks to one NATS account. It is safe for concurrent use.
type Queue struct {
	cfg      Config
	nc       *nats.Conn
	js       jetstream.JetStream
	log      zerolog.Logger
	lanes    map[chat.Lane]jetstream.Stream
	store    storeGuard
	talk     jetstream.Stream
	story    jetstream.Stream
	dead     jetstream.Stream
	handoffs jetstream.Stream

	tickets  jetstream.KeyValue
	sessions jetstream.KeyValue
	keys     jetstream.KeyValue
	tenants  jetstream.KeyValue
	control  jetstream.KeyValue
	away     jetstream.KeyValue

	audit     jetstream.Stream
	steering  jetstream.KeyValue
	operators jetstream.KeyValue
	claims    jetstream.KeyValue
	promises  jetstream.KeyValue
	kept      jetstream.Stream // promises that are open no more
	outbox    jetstream.Stream
	texted    func(*chat.Notice) // nil: nobody is told
	flow      flow
	batches   jetstream.KeyValue
	spool     jetstream.Stream // lines of batches that have no ticket yet
	marks     marks
	answers   jetstream.KeyValue
	hooks     jetstream.KeyValue
	alerts    jetstream.KeyValue

	suppressions jetstream.KeyValue
	texts        jetstream.KeyValue // how many went out, or are promised
	counting     turnstiles         // at these counts

	knowledge jetstream.KeyValue
	documents jetstream.KeyValue
	faq       jetstream.KeyValue
	vectors   jetstream.KeyValue
	bulks     jetstream.KeyValue
}

// Open creates or updates every stream and bucket and returns when all are usable.
// The caller keeps nc open for as long as the Queue is used, and closes it.
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (*Queue, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Replicas = orDefault(cfg.Replicas, 1)
	cfg.KeepEvents = orDefault(cfg.KeepEvents, 7*24*time.Hour)
	cfg.KeepTicket = orDefault(cfg.KeepTicket, 24*time.Hour)
	cfg.KeepKey = orDefault(cfg.KeepKey, 24*time.Hour)
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open jetstream: %w", err)
	}
	q := &Queue{cfg: cfg, nc: nc, js: js, log: cfg.Log, lanes: map[chat.Lane]jetstream.Stream{}, counting: newTurnstiles()}
	q.store.log = cfg.Log
	for _, open := range []func(context.Context) error{
		q.openLanes, q.openLogs, q.openDead, q.openHandoffs, q.openAudit, q.openKept, q.openOutbox, q.openSpool, q.openBuckets, q.openAnswers, q.openHooks,
	} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Ready reports whether the engine answers now.
func (q *Queue) Ready(ctx context.Context) error {
	if _, err := q.talk.Info(ctx); err != nil {
		return fmt.Errorf("ask nats: %w", err)
	}
	return nil
}

func (q *Queue) openLanes(ctx context.Context) error {
	for _, l := range chat.Lanes() {
		s, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: laneStream(l), Subjects: []string{laneFilter(l)},
			Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			MaxMsgs: int64(q.cfg.Bounds[l]), Discard: jetstream.DiscardNew, Replicas: q.cfg.Replicas,
		})
		if err != nil {
			return fmt.Errorf("open stream %s: %w", laneStream(l), err)
		}
		q.lanes[l] = s
		if err := q.openConsumer(ctx, s); err != nil {
			return fmt.Errorf("open consumer of %s: %w", laneStream(l), err)
		}
	}
	return nil
}

func (q *Queue) openConsumer(ctx context.Context, s jetstream.Stream) error {
	if q.cfg.Fresh {
		err := s.DeleteConsumer(ctx, dispatchConsumer)
		if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
	}
	_, err := s.CreateOrUpdateConsumer(ctx, dispatchConfig())
	return err
}

// dispatchConfig is the one consumer of each lane.
func dispatchConfig() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: dispatchConsumer, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: AckWait, MaxAckPending: -1, MaxDeliver: -1, MaxWaiting: 64,
	}
}

func (q *Queue) openLogs(ctx context.Context) (err error) {
	q.talk, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: talkStream, Subjects: []string{"talk.>"}, Storage: jetstream.FileStorage,
		MaxAge: q.cfg.KeepEvents, Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", talkStream, err)
	}
	q.story, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: storyStream, Subjects: []string{"story.>"}, Storage: jetstream.FileStorage,
		MaxAge: q.cfg.KeepEvents, Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", storyStream, err)
	}
	return nil
}

func (q *Queue) openBuckets(ctx context.Context) error {
	for _, b := range []struct {
		kv   *jetstream.KeyValue
		conf jetstream.KeyValueConfig
	}{
		{&q.tickets, jetstream.KeyValueConfig{Bucket: ticketBucket, LimitMarkerTTL: time.Minute}},
		{&q.sessions, jetstream.KeyValueConfig{Bucket: sessionBucket, TTL: 90 * 24 * time.Hour}},
		{&q.keys, jetstream.KeyValueConfig{Bucket: keyBucket, TTL: q.cfg.KeepKey}},
		{&q.tenants, jetstream.KeyValueConfig{Bucket: tenantBucket}},
		{&q.control, jetstream.KeyValueConfig{Bucket: controlBucket, LimitMarkerTTL: time.Minute}},
		{&q.away, jetstream.KeyValueConfig{Bucket: awayBucket, TTL: keepAway, LimitMarkerTTL: time.Minute}},
		{&q.steering, jetstream.KeyValueConfig{Bucket: steeringBucket, LimitMarkerTTL: time.Minute}},
		{&q.operators, jetstream.KeyValueConfig{Bucket: operatorBucket, LimitMarkerTTL: time.Minute}},
		{&q.claims, jetstream.KeyValueConfig{Bucket: claimBucket, TTL: keepClaim}},
		{&q.batches, jetstream.KeyValueConfig{Bucket: batchBucket, LimitMarkerTTL: time.Minute}},
		{&q.promises, jetstream.KeyValueConfig{Bucket: promiseBucket, LimitMarkerTTL: time.Minute}},
		{&q.suppressions, jetstream.KeyValueConfig{Bucket: suppressionBucket}},
		{&q.texts, jetstream.KeyValueConfig{Bucket: textBucket, TTL: keepTexts}},
		{&q.knowledge, jetstream.KeyValueConfig{Bucket: knowledgeBucket, History: KeepVersions}},
		{&q.documents, jetstream.KeyValueConfig{Bucket: documentBucket, LimitMarkerTTL: time.Minute}},
		{&q.alerts, jetstream.KeyValueConfig{Bucket: alertBucket, LimitMarkerTTL: time.Minute}},
		{&q.faq, jetstream.KeyValueConfig{Bucket: faqBucket, LimitMarkerTTL: time.Minute}},
		{&q.vectors, jetstream.KeyValueConfig{Bucket: vectorBucket, LimitMarkerTTL: time.Minute}},
		{&q.bulks, jetstream.KeyValueConfig{Bucket: bulkBucket, LimitMarkerTTL: time.Minute}},
	} {
		b.conf.Replicas = q.cfg.Replicas
		kv, err := openBucket(ctx, q.js, b.conf)
		if err != nil {
			return err
		}
		*b.kv = kv
	}
	return nil
}
