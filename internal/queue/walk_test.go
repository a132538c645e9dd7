package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// A record that does not know every event, or whose marks but for the first point to where
// there is none or another session's, makes a reader look for them, and never leave one out.
func TestMarksOnlyMakeReadingCheaper(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		const talks = 12
		for range talks {
			w.accept(message("s", "hello"))
			w.accept(message("other", "hello")) // its events lie between
			w.finish(chat.Normal, "yes")
			w.finish(chat.Normal, "yes")
		}
		other, err := w.Session(t.Context(), "demo", "other")
		if err != nil {
			t.Fatal(err)
		}
		whole, err := w.Session(t.Context(), "demo", "s")
		if err != nil || len(whole.Recent) != 2*talks {
			t.Fatalf("record has %d marks, %v; want %d", len(whole.Recent), err, 2*talks)
		}
		for name, spoil := range map[string]func(i int, m *Mark) (keep bool){
			"whole":       func(int, *Mark) bool { return true },
			"none":        func(int, *Mark) bool { return false },
			"every third": func(i int, _ *Mark) bool { return i%3 == 0 },
			"first half":  func(i int, _ *Mark) bool { return i < talks },
			"second half": func(i int, _ *Mark) bool { return i >= talks },
			"another's place": func(i int, m *Mark) bool {
				if i > 0 {
					m.At = other.Recent[i].At
				}
				return true
			},
			"no place": func(i int, m *Mark) bool { m.At += uint64(i) * 1000; return true },
		} {
			var marks []Mark
			for i, m := range whole.Recent {
				if spoil(i, &m) {
					marks = append(marks, m)
				}
			}
			if _, err := w.ChangeSession(t.Context(), "demo", "s", func(s *Session) bool { s.Recent = marks; return true }); err != nil {
				t.Fatal(err)
			}
			afters := upTo(2*talks - 1)
			if strings.Contains(name, "place") {
				afters = nil // where a reader begins is the marks' word
			}
			for _, after := range append(afters, 0) {
				if got, _, _ := w.seqs("s", after, 1000); !slices.Equal(got, upTo(2 * talks)[after:]) {
					t.Errorf("marks %s: after %d are read %v", name, after, got)
				}
			}
		}
	})
}

// BenchmarkPast reads the last 20 events of a session while 5,000 others talk in between: by
// its marks, and as it would be without them.
func BenchmarkPast(b *testing.B) {
	q, nc := measured(b, 100)
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(1000))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 20 {
		m := message("s", "hello")
		m.Seq = uint64(i + 1)
		if _, err := q.appendEvent(b.Context(), IntakeEvent, &m, slotIn); err != nil {
			b.Fatal(err)
		}
		for n := range 5000 {
			subject := fmt.Sprintf("talk.demo.o-%d.%s.in", n, chat.NewTicketID())
			if _, err := js.PublishAsync(subject, []byte(`{"seq":1,"text":"hello"}`)); err != nil {
				b.Fatal(err)
			}
		}
		<-js.PublishAsyncComplete()
	}
	for _, marked := range []bool{true, false} {
		b.Run(fmt.Sprintf("marked=%v", marked), func(b *testing.B) {
			if !marked {
				_, err := q.ChangeSession(b.Context(), "demo", "s", func(s *Session) bool { s.Recent = s.Recent[:1]; return true })
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				past, err := q.Past(b.Context(), "demo", "s", 40)
				if err != nil || len(past.Events) != 20 {
					b.Fatalf("%d events, %v", len(past.Events), err)
				}
			}
		})
	}
}
