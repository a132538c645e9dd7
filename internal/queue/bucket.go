package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// openBucket opens or makes a bucket on file. On several replicas it is read through
// the stream's leader alone: a replica that lags behind would show a ticket as it was
// before our own last write.
func openBucket(ctx context.Context, js jetstream.JetStream, conf jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	conf.Storage = jetstream.FileStorage
	if conf.Replicas > 1 {
		return openLeaderBucket(ctx, js, conf)
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", conf.Bucket, err)
	}
	return kv, nil
}

// openLeaderBucket makes the bucket's stream itself: the library's own way allows direct
// reads, and a process that opened the bucket before that was taken back would use them.
func openLeaderBucket(ctx context.Context, js jetstream.JetStream, conf jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	return openStreamBucket(ctx, js, conf.Bucket, bucketStream(conf))
}

// bucketStream is the stream of a bucket that is read through its leader alone.
func bucketStream(conf jetstream.KeyValueConfig) jetstream.StreamConfig {
	duplicates := 2 * time.Minute
	if conf.TTL > 0 {
		duplicates = min(duplicates, conf.TTL)
	}
	return jetstream.StreamConfig{
		Name: "KV_" + conf.Bucket, Subjects: []string{bucketSubject(conf.Bucket, ">")},
		MaxMsgsPerSubject: max(1, int64(conf.History)), MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1,
		MaxAge: conf.TTL, Duplicates: duplicates, Storage: conf.Storage, Replicas: conf.Replicas,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true, AllowDirect: false,
		AllowMsgTTL: conf.LimitMarkerTTL > 0, SubjectDeleteMarkerTTL: conf.LimitMarkerTTL,
	}
}

func openStreamBucket(ctx context.Context, js jetstream.JetStream, bucket string, conf jetstream.StreamConfig) (jetstream.KeyValue, error) {
	if _, err := js.CreateOrUpdateStream(ctx, conf); err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return kv, nil
}
