package queue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// BenchmarkKnown looks for open tickets among 50,000: 10,000 in deferred, 40,000 in batch.
func BenchmarkKnown(b *testing.B) {
	q, nc := measured(b, 50_000)
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(1000))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 50_000 {
		t := message(fmt.Sprint("s-", i/5), strings.Repeat("please ", 100))
		t.Status = chat.Queued
		if t.Lane = chat.Batch; i%5 == 0 {
			t.Lane = chat.Deferred
		}
		t.AcceptedAt = time.Now()
		body, err := json.Marshal(t)
		if err != nil {
			b.Fatal(err)
		}
		for _, subject := range []string{laneSubject(&t), bucketSubject(ticketBucket, t.ID)} {
			if _, err := js.PublishAsync(subject, body); err != nil {
				b.Fatal(err)
			}
		}
	}
	<-js.PublishAsyncComplete()
	for name, f := range map[string]chat.TicketFilter{
		"all": {}, "lane": {Lane: chat.Deferred}, "session": {Session: "s-777"}, "ended": {Status: chat.Answered},
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				known, err := q.Known(b.Context(), f, false, false)
				if err != nil {
					b.Fatal(err)
				}
				n = len(known.Marks)
			}
			b.ReportMetric(float64(n), "found")
		})
	}
	b.Run("page of running", func(b *testing.B) {
		f := chat.TicketFilter{Status: chat.Running}
		for b.Loop() {
			known, err := q.Known(b.Context(), f, false, false)
			if err == nil {
				_, _, err = q.ReadMarks(b.Context(), f, known.Marks, 51)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
