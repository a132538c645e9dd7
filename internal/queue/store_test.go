package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

// lodger is a queue in an account of a server that it does not own, in a bubble.
type lodger struct {
	*world
	ns      *server.Server
	account *queuetest.Account
	log     queuetest.Lines
}

func inAccount(t *testing.T, limits func(*jwt.AccountClaims), f func(t *testing.T, l *lodger)) {
	t.Helper()
	queuetest.Bubble(t, func(t *testing.T) {
		operator := queuetest.NewOperator(t)
		l := &lodger{world: &world{t: t, cfg: Config{Bounds: map[chat.Lane]int{}}}, account: operator.Account("ours", limits)}
		for _, lane := range chat.Lanes() {
			l.cfg.Bounds[lane] = 1000
		}
		l.log, l.cfg.Log = queuetest.NewLog()
		opts := operator.Options()
		opts.DontListen = true
		l.ns = queuetest.Serve(t, opts)
		l.nc = l.dial(func(*jwt.UserClaims) {})
		l.Queue = l.open()
		f(t, l)
	})
}

// dial connects a user of the account.
func (l *lodger) dial(user func(*jwt.UserClaims)) *nats.Conn {
	l.t.Helper()
	creds, _ := l.account.Creds(user)
	ignore := func(*nats.Conn, *nats.Subscription, error) {}
	nc, err := nats.Connect("", nats.InProcessServer(l.ns), nats.UserCredentials(creds), nats.ErrorHandler(ignore))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(nc.Close)
	return nc
}

// fill accepts long messages until one is refused, with a pause before each.
func (l *lodger) fill(pause time.Duration) (accepted []chat.Ticket, refused chat.Ticket, err error) {
	l.t.Helper()
	for range 500 {
		time.Sleep(pause)
		asked := message(fmt.Sprintf("s%d", len(accepted)), strings.Repeat("x", 4000))
		if _, _, err = l.Accept(l.t.Context(), asked, Claim{}); err != nil {
			return accepted, asked, err
		}
		accepted = append(accepted, asked)
	}
	l.t.Fatal("nothing is refused")
	return nil, chat.Ticket{}, nil
}

// used returns how much of its store the account uses.
func (l *lodger) used() int64 {
	l.t.Helper()
	info, err := l.js.AccountInfo(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return int64(info.Store)
}

// said returns how often the log said each of the two things about a full store.
func (l *lodger) said() (full, room int) {
	for len(l.log) > 0 {
		switch line := <-l.log; {
		case strings.Contains(line, "nine tenths full"):
			full++
		case strings.Contains(line, "has room again"):
			room++
		}
	}
	return full, room
}

const smallStore = 400_000

func flat(bytes int64) func(*jwt.AccountClaims) {
	return func(c *jwt.AccountClaims) {
		c.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: bytes, Streams: -1, Consumer: -1}
	}
}

func tiered(bytes int64) func(*jwt.AccountClaims) {
	return func(c *jwt.AccountClaims) {
		c.Limits.JetStreamTieredLimits = jwt.JetStreamTieredLimits{
			"R1": {DiskStorage: bytes, Streams: -1, Consumer: -1},
			"R3": {DiskStorage: 100 * bytes, Streams: -1, Consumer: -1},
		}
	}
}

// TestIntakeKeepsTheLastTenthOfItsAccount for the ends of what was accepted, and goes on
// when there is room again.
func TestIntakeKeepsTheLastTenthOfItsAccount(t *testing.T) {
	for name, limits := range map[string]func(int64) func(*jwt.AccountClaims){"flat": flat, "tiered": tiered} {
		t.Run(name, func(t *testing.T) {
			inAccount(t, limits(smallStore), func(t *testing.T, l *lodger) {
				accepted, refused, err := l.fill(storeCheckEvery + time.Millisecond)
				if !errors.Is(err, ErrStorage) || errors.Is(err, ErrFull) {
					t.Fatalf("err = %v, want ErrStorage", err)
				}
				if used := l.used(); used <= smallStore/10*9 || used >= smallStore {
					t.Errorf("%d bytes of %d are used, want the last tenth free", used, smallStore)
				}
				l.gone(refused.ID)
				l.depth(chat.Normal, len(accepted))

				for range 2 {
					l.finish(chat.Normal, "an answer")
				}
				if _, _, err := l.Accept(t.Context(), message("s", "hello"), Claim{}); !errors.Is(err, ErrStorage) {
					t.Errorf("err = %v, want ErrStorage", err)
				}

				// Room by what is forgotten, then by a greater limit.
				for _, stream := range []jetstream.Stream{l.talk, l.story} {
					if err := stream.Purge(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if more, _, err := l.fill(storeCheckEvery + time.Millisecond); len(more) < 10 || !errors.Is(err, ErrStorage) {
					t.Errorf("%d more accepted, then %v; want some, then ErrStorage", len(more), err)
				}
				acc, err := l.ns.LookupAccount(l.account.ID)
				if err != nil {
					t.Fatal(err)
				}
				l.ns.UpdateAccountClaims(acc, l.account.Change(limits(2*smallStore)))
				if more, _, err := l.fill(storeCheckEvery + time.Millisecond); len(more) < 10 || !errors.Is(err, ErrStorage) {
					t.Errorf("%d more accepted under twice the limit, then %v; want some, then ErrStorage", len(more), err)
				}
				if full, room := l.said(); full != 3 || room != 2 {
					t.Errorf("the log said %d times that the store is full and %d times that it has room, want 3 and 2", full, room)
				}
			})
		})
	}
}

// TestWhatTheAccountRefusesIsNoFullLane: more came between two measurements than the
// last tenth holds.
func TestWhatTheAccountRefusesIsNoFullLane(t *testing.T) {
	for name, limits := range map[string]func(int64) func(*jwt.AccountClaims){"flat": flat, "tiered": tiered} {
		t.Run(name, func(t *testing.T) {
			inAccount(t, limits(smallStore), func(t *testing.T, l *lodger) {
				accepted, refused, err := l.fill(0)
				if !errors.Is(err, ErrStorage) || errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "resource limits exceeded") {
					t.Fatalf("err = %v, want ErrStorage by the server", err)
				}
				l.depth(chat.Normal, len(accepted))
				if err := l.talk.Purge(t.Context()); err != nil {
					t.Fatal(err)
				}
				// What is left of the refused one goes with the next repair.
				time.Sleep(staleAccepting)
				if _, _, err := l.Sweep(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				l.gone(refused.ID)
				l.accept(message("s", "hello"))
			})
		})
	}
}

// TestIntakeGoesOnWithoutAMeasurement, which no server answers here: the user may not ask.
func TestIntakeGoesOnWithoutAMeasurement(t *testing.T) {
	inAccount(t, flat(smallStore), func(t *testing.T, l *lodger) {
		blind := l.dial(func(c *jwt.UserClaims) { c.Pub.Deny.Add("$JS.API.INFO") })
		var err error
		if l.js, err = jetstream.New(blind); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			begun := time.Now()
			l.accept(message("s", "hello"))
			if took := time.Since(begun); took > measureLimit+100*time.Millisecond {
				t.Errorf("took %s, want no more than %s for the measurement", took, measureLimit)
			}
			l.accept(message("s", "hello"))
			if took := time.Since(begun); took > measureLimit+100*time.Millisecond {
				t.Errorf("the second took %s too", took)
			}
			time.Sleep(2 * storeCheckEvery)
		}
		if n := len(l.log); n != 1 {
			t.Errorf("%d lines in the log, want one", n)
		}
	})
}

func TestTheStoreIsThatOfTheAccountOrItsTier(t *testing.T) {
	t.Parallel()
	flat := func(used uint64, limit int64) jetstream.Tier {
		return jetstream.Tier{Store: used, Limits: jetstream.AccountLimits{MaxStore: limit}}
	}
	both := map[string]jetstream.Tier{"R1": flat(10, 100), "R3": flat(60, 200)}
	for name, c := range map[string]struct {
		info     jetstream.AccountInfo
		replicas int
		own      int64
		used     int64
		limit    int64
	}{
		"no limit":                {info: jetstream.AccountInfo{Tier: flat(5, -1)}, replicas: 1, used: 5, limit: -1},
		"a flat limit":            {info: jetstream.AccountInfo{Tier: flat(5, 9)}, replicas: 1, used: 5, limit: 9},
		"flat counts all copies":  {info: jetstream.AccountInfo{Tier: flat(15, 90)}, replicas: 3, used: 15, limit: 90},
		"nothing may be stored":   {info: jetstream.AccountInfo{Tier: flat(0, 0)}, replicas: 1, used: 0, limit: 0},
		"tier of one copy":        {info: jetstream.AccountInfo{Tier: flat(70, 0), Tiers: both}, replicas: 1, used: 10, limit: 100},
		"tier of three copies":    {info: jetstream.AccountInfo{Tier: flat(70, 0), Tiers: both}, replicas: 3, used: 60, limit: 600},
		"a tier that is none":     {info: jetstream.AccountInfo{Tier: flat(70, 0), Tiers: both}, replicas: 5, used: 0, limit: -1},
		"a tier without limit":    {info: jetstream.AccountInfo{Tiers: map[string]jetstream.Tier{"R1": flat(7, -1)}}, replicas: 1, used: 7, limit: -1},
		"the store's own size":    {info: jetstream.AccountInfo{Tier: flat(5, -1)}, replicas: 1, own: 50, used: 5, limit: 50},
		"the account is smaller":  {info: jetstream.AccountInfo{Tier: flat(5, 9)}, replicas: 1, own: 50, used: 5, limit: 9},
		"the store is smaller":    {info: jetstream.AccountInfo{Tier: flat(5, 900)}, replicas: 1, own: 50, used: 5, limit: 50},
		"the store holds a tier ": {info: jetstream.AccountInfo{Tier: flat(70, 0), Tiers: both}, replicas: 3, own: 80, used: 70, limit: 80},
	} {
		if used, limit := storeOf(&c.info, c.replicas, c.own); used != c.used || limit != c.limit {
			t.Errorf("%s: %d of %d, want %d of %d", name, used, limit, c.used, c.limit)
		}
	}
}

func TestARefusedWriteIsAFullLaneOrAFullStore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"10077 maximum messages exceeded":                 ErrFull,
		"10077 maximum messages per subject exceeded":     ErrFull,
		"10077 maximum bytes exceeded":                    ErrStorage,
		"10077 write msgs/7.blk: no space left on device": ErrStorage,
		"10077 message size exceeds maximum allowed":      nil,
		"10002 resource limits exceeded for account":      ErrStorage,
		"10023 insufficient resources":                    ErrStorage,
		"10028 insufficient memory resources available":   ErrStorage,
		"10047 insufficient storage resources available":  ErrStorage,
		"10054 message size exceeds maximum allowed":      nil,
	} {
		var api jetstream.APIError
		code, text, _ := strings.Cut(text, " ")
		if _, err := fmt.Sscan(code, &api.ErrorCode); err != nil {
			t.Fatal(err)
		}
		api.Description = text
		err := refusal("write", fmt.Errorf("nats: %w", &api))
		for _, sentinel := range []error{ErrFull, ErrStorage} {
			if got := errors.Is(err, sentinel); got != (want == sentinel) {
				t.Errorf("%s %s: %v, want %v", code, text, err, want)
			}
		}
	}
}
