package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"golang.org/x/time/rate"

	"sluice/internal/chat"
	"sluice/internal/password"
)

// How often passwords may be tried: by one address, for one user, by one known browser, and
// by all strangers together; and how many of each are told apart. A hash costs some 40 ms
// of a core.
const (
	loginBurst  = 5
	loginEvery  = 10 * time.Second
	userBurst   = 10
	loginsBurst = 20
	loginsEvery = 500 * time.Millisecond
	loginNames  = 1024
)

// attempts limits tries of passwords at this node. It is safe for concurrent use.
type attempts struct {
	mu      sync.Mutex // guards what follows
	all     *rate.Limiter
	address *tries
	user    *tries
	device  *tries
}

func newAttempts() *attempts {
	return &attempts{
		all:     rate.NewLimiter(rate.Every(loginsEvery), loginsBurst),
		address: newTries(loginBurst), user: newTries(userBurst), device: newTries(loginBurst),
	}
}

// try takes one try at now; a wait above 0 refuses it. Who shows a known browser is only
// counted as that: strangers who try a user's name from many addresses use up what all
// strangers may for that name, and lock out neither the user nor anybody else that a
// node knows. A name that nobody has is counted like any other.
func (t *attempts) try(network, user, device string, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if device != "" {
		return delay(t.device.of(user+" "+device, now), now)
	}
	for _, l := range []*rate.Limiter{t.address.of(network, now), t.user.of(user, now), t.all} {
		if wait := delay(l, now); wait > 0 {
			return wait
		}
	}
	return 0
}

// tries are the limits of up to loginNames names; those beyond share one.
type tries struct {
	burst  int
	others *rate.Limiter
	byName map[string]*rate.Limiter
}

func newTries(burst int) *tries {
	return &tries{burst: burst, others: rate.NewLimiter(rate.Every(loginEvery), burst), byName: map[string]*rate.Limiter{}}
}

func (t *tries) of(name string, now time.Time) *rate.Limiter {
	if l := t.byName[name]; l != nil {
		return l
	}
	if len(t.byName) >= loginNames {
		for old, l := range t.byName {
			if l.TokensAt(now) >= float64(t.burst) {
				delete(t.byName, old) // nothing is held against it any more
			}
		}
	}
	if len(t.byName) >= loginNames {
		return t.others
	}
	l := rate.NewLimiter(rate.Every(loginEvery), t.burst)
	t.byName[name] = l
	return l
}

// delay takes a token, or returns when there will be one.
func delay(l *rate.Limiter, now time.Time) time.Duration {
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

type networkKey struct{}

// hesitant notes where a try comes from, and refuses those of other origins' pages. What a
// header says of the address is believed of the proxies that the rules name.
func (a *API) hesitant(ctx huma.Context, next func(huma.Context)) {
	r := humaecho.Unwrap(ctx).Request()
	if err := a.ownPage(r); err != nil {
		refuse(ctx, err)
		return
	}
	next(huma.WithValue(ctx, networkKey{}, networkOf(r, a.deps.Rules().Sockets.Proxies).String()))
}

// networkIn returns what hesitant noted. The machine's own addresses are one.
func networkIn(ctx context.Context) string {
	network, _ := ctx.Value(networkKey{}).(string)
	return network
}

// hurdle makes a refusal of a wait, if there is one.
func hurdle(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &chat.Error{
		Kind: chat.Overloaded, Code: codeRateLimited, RetryAfter: wait, Detail: "too many tries to log in; wait a little",
	}
}

// busy makes a refusal of what a password's hash came to.
func busy(err error) error {
	if errors.Is(err, password.ErrBusy) {
		return hurdle(loginsEvery)
	}
	return err
}
