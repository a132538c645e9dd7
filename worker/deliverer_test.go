package worker

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sluice/internal/chat"
	"sluice/internal/hook"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// post is what a receiver got.
type post struct {
	at     time.Time
	url    string
	header http.Header
	body   []byte
}

// delivery is a deliverer in a bubble, with an engine and receivers that answer what says.
type delivery struct {
	t     *testing.T
	queue *queue.Queue
	begun time.Time

	mu     sync.Mutex
	posts  []post
	answer func(url string, w http.ResponseWriter) // of the receivers
	silent int                                     // connections to hosts that answer nothing, now
	most   int                                     // and at once
}

func inDelivery(t *testing.T, f func(t *testing.T, d *delivery)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir(), Sync: queuetest.Rarely})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		nc, err := server.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		bounds := map[chat.Lane]int{}
		for _, lane := range chat.Lanes() {
			bounds[lane] = 10
		}
		d := &delivery{t: t, answer: func(_ string, w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }}
		if d.queue, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Fresh: true, Log: zerolog.Nop()}); err != nil {
			t.Fatal(err)
		}
		defer d.serve()()
		d.begun = time.Now()
		f(t, d)
	})
}

// serve runs receivers and deliverer until stop.
func (d *delivery) serve() (stop func()) {
	d.t.Helper()
	door, server := sim.NewPipeListener(), &http.Server{Handler: d}
	sender, err := hook.NewSender(hook.Config{
		Private: func() bool { return false },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "silent") {
				return d.dialSilent(ctx)
			}
			return door.Dial(ctx, network, address)
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	deliverer, err := NewDeliverer(d.queue, DelivererConfig{
		Sender: sender, Log: zerolog.Nop(), Random: func() float64 { return 0.5 },
		Secrets: func(ctx context.Context, tenant string, now time.Time) ([]string, error) {
			s, err := d.queue.HookSecrets(ctx, tenant)
			return s.Signing(now), err
		},
		Endpoint: func(tenant string) string {
			return map[string]string{"demo": "http://shop.example/handoffs"}[tenant]
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(door) })
	running.Go(func() { _ = deliverer.Run(ctx) })
	return func() {
		cancel()
		_ = server.Close()
		_ = door.Close()
		running.Wait()
	}
}

// dialSilent is a host that nobody can connect to within 5 s.
func (d *delivery) dialSilent(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	d.mu.Lock()
	d.silent++
	d.most = max(d.most, d.silent)
	d.mu.Unlock()
	<-ctx.Done()
	d.mu.Lock()
	d.silent--
	d.mu.Unlock()
	return nil, ctx.Err()
}

func (d *delivery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	url := "http://" + r.Host + r.URL.Path
	d.mu.Lock()
	d.posts = append(d.posts, post{time.Now(), url, r.Header.Clone(), body})
	answer := d.answer
	d.mu.Unlock()
	answer(url, w)
}

// announce puts the message about a ticket's end into the outbox.
func (d *delivery) announce(about, url string) chat.Hook {
	d.t.Helper()
	return d.announceFor("demo", about, url)
}

func (d *delivery) announceFor(tenant, about, url string) chat.Hook {
	d.t.Helper()
	h, body, err := chat.NewHook(tenant, chat.HookAnswered, about, url, time.Now(), map[string]string{"ticket_id": about})
	if err == nil {
		err = d.queue.Announce(d.t.Context(), h, body)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return h
}

// got returns the posts to a URL so far.
func (d *delivery) got(url string) []post {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.posts), func(p post) bool { return p.url != url })
}

func (d *delivery) state(h chat.Hook, want chat.HookState, tries int) {
	d.t.Helper()
	got, err := d.queue.Hook(d.t.Context(), h.ID)
	if err != nil || got.State != want || got.Tries != tries {
		d.t.Errorf("webhook of %s is %s after %d tries (%s, %v), want %s after %d", got.About, got.State, got.Tries, got.Fault, err, want, tries)
	}
}

// TestWebhooksAreTriedOnTheSchedule has a receiver that fails for four minutes: each try comes to
// the millisecond, under one id and signed for its own time.
func TestWebhooksAreTriedOnTheSchedule(t *testing.T) {
	inDelivery(t, func(t *testing.T, d *delivery) {
		d.answer = func(_ string, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }
		h := d.announce("t_1", "http://shop.example/ends")
		time.Sleep(4 * time.Minute)
		want := []time.Duration{0, 2500 * time.Millisecond, 12500 * time.Millisecond, 52500 * time.Millisecond, 212500 * time.Millisecond}
		got := d.got("http://shop.example/ends")
		for i, p := range got {
			if after := p.at.Sub(d.begun); i >= len(want) || after < want[i] || after > want[i]+time.Duration(i+1)*time.Millisecond {
				t.Errorf("try %d after %s, want %v", i+1, after, want)
			}
			if stamp := p.header.Get("webhook-timestamp"); stamp != strconv.FormatInt(p.at.Unix(), 10) || p.header.Get("webhook-id") != h.ID {
				t.Errorf("try %d: id %s, timestamp %s", i+1, p.header.Get("webhook-id"), stamp)
			}
			d.verify(p)
		}
		if len(got) != len(want) {
			t.Errorf("%d tries, want %d", len(got), len(want))
		}
		d.state(h, chat.HookWaiting, len(want))
	})
}

// verify checks a post with the library, as a receiver does.
func (d *delivery) verify(p post) {
	d.t.Helper()
	s, err := d.queue.HookSecrets(d.t.Context(), "demo")
	if err != nil {
		d.t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(s.Current)
	if err == nil {
		err = verifier.VerifyIgnoringTimestamp(p.body, p.header)
	}
	if err != nil {
		d.t.Error(err)
	}
}

// TestADeadReceiverDelaysNoOther has a hundred messages for a host that never answers.
func TestADeadReceiverDelaysNoOther(t *testing.T) {
	inDelivery(t, func(t *testing.T, d *delivery) {
		for i := range 100 {
			d.announce("t_"+strconv.Itoa(i), "http://silent.example/"+strconv.Itoa(i))
		}
		time.Sleep(time.Second)
		for range 3 {
			at := time.Now()
			h := d.announce(at.String(), "http://shop.example/ends")
			time.Sleep(20 * time.Second)
			d.state(h, chat.HookDelivered, 1)
			if got := d.got("http://shop.example/ends"); len(got) == 0 || got[len(got)-1].at.Sub(at) > time.Millisecond {
				t.Errorf("%d posts, the last after %s", len(got), time.Since(at))
			}
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.most != atOnceHost || d.silent > 1 {
			t.Errorf("%d at once with the dead one, %d now; want %d, and one", d.most, d.silent, atOnceHost)
		}
	})
}

// TestWhatReceiversAnswer goes through what an answer means.
func TestWhatReceiversAnswer(t *testing.T) {
	inDelivery(t, func(t *testing.T, d *delivery) {
		d.answer = func(url string, w http.ResponseWriter) {
			switch url {
			case "http://gone.example/":
				w.WriteHeader(http.StatusGone)
			case "http://moved.example/":
				w.Header().Set("Location", "http://shop.example/new")
				w.WriteHeader(http.StatusFound)
			case "http://busy.example/":
				w.Header().Set("Retry-After", "90")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}
		gone, moved, busy := d.announce("gone", "http://gone.example/"), d.announce("moved", "http://moved.example/"), d.announce("busy", "http://busy.example/")
		time.Sleep(time.Second)
		other := d.announce("busy too", "http://busy.example/")
		again := d.announce("gone again", "http://gone.example/")
		time.Sleep(80 * time.Second)
		d.state(gone, chat.HookDead, 1)
		d.state(again, chat.HookDead, 0)
		d.state(moved, chat.HookWaiting, 4) // after 2.5, 10 and 40 s
		d.state(busy, chat.HookWaiting, 1)
		d.state(other, chat.HookWaiting, 0) // the host asked to be left alone
		if n := len(d.got("http://shop.example/new")); n != 0 {
			t.Error("a redirect was followed")
		}
		d.mu.Lock()
		d.answer = func(_ string, w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) }
		d.mu.Unlock()
		if err := d.queue.TurnHookOn(t.Context(), "demo", "http://gone.example/"); err != nil {
			t.Error(err)
		}
		if _, err := d.queue.ReplayHook(t.Context(), gone.ID, time.Now()); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		d.state(gone, chat.HookDelivered, 2)
		d.state(busy, chat.HookDelivered, 2)
		d.state(other, chat.HookDelivered, 1)
		got := d.got("http://gone.example/")
		if len(got) != 2 || got[0].header.Get("webhook-id") != got[1].header.Get("webhook-id") {
			t.Errorf("%d posts to the one that was gone", len(got))
		}
	})
}

// TestAFormerSecretSignsForADay rotates a secret: both sign, then the new one alone.
func TestAFormerSecretSignsForADay(t *testing.T) {
	inDelivery(t, func(t *testing.T, d *delivery) {
		before, err := d.queue.HookSecrets(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		now, err := d.queue.RotateHookSecret(t.Context(), "demo", time.Now())
		if err != nil || len(now.Former) != 1 || now.Former[0].Secret != before.Current || now.Current == before.Current {
			t.Fatalf("rotated: %v", err)
		}
		d.announce("t_1", "http://shop.example/ends")
		synctest.Wait()
		time.Sleep(time.Second)
		posts := d.got("http://shop.example/ends")
		if len(posts) != 1 {
			t.Fatalf("%d posts", len(posts))
		}
		for _, secret := range []string{before.Current, now.Current} {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = verifier.Verify(posts[0].body, posts[0].header)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if got := now.Signing(time.Now().Add(25 * time.Hour)); len(got) != 1 || got[0] != now.Current {
			t.Errorf("%d secrets sign after a day", len(got))
		}
	})
}

// TestATryEndsWithinADay follows one webhook whose receiver is never well.
func TestATryEndsWithinADay(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, random := range []float64{0.25, 0.5, 0.999} {
		h, now := chat.Hook{Since: begun, State: chat.HookWaiting, NextAt: begun}, begun
		for h.State == chat.HookWaiting {
			now = h.NextAt
			h.Tries++
			h = after(h, hook.Answer{Status: 500}, now, random)
		}
		if h.State != chat.HookDead || !now.Equal(begun.Add(24*time.Hour)) || h.Tries < 10 || h.Tries > 40 {
			t.Errorf("at %v: %s after %d tries and %s", random, h.State, h.Tries, now.Sub(begun))
		}
	}
	asked := after(chat.Hook{Since: begun, Tries: 1}, hook.Answer{Status: 503, RetryAfter: time.Hour}, begun, 0.5)
	if got := asked.NextAt.Sub(begun); got != time.Hour {
		t.Errorf("the next try after %s, want the hour that was asked for", got)
	}
}
