package gate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

// record is one message that was let in.
type record struct {
	Pass
	pace       rate      // the slower one that it went at
	tightSince time.Time // of its lane, if it was tight
	back       bool
}

// queueing is a turnstile beside a list of everybody who was let in.
type queueing struct {
	cfg   Intake
	turns *Turnstile
	clean *Turnstile // the same, but it never sees whoever is turned away
	since time.Time
	now   time.Time
	all   []record
	tight map[chat.Lane]time.Time // since when; missing: it is not
}

// TestTurnstileDecidesAsTheNaiveList plays random histories without any undoing. What goes
// and when must be what a list of all earlier messages tells, and whoever is turned away
// must leave no trace (facts/overload.md row 5).
func TestTurnstileDecidesAsTheNaiveList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueueing(t)
		t.Repeat(map[string]func(*rapid.T){"enter": q.enter, "enter 2": q.enter, "enter 3": q.enter, "clock": q.clock, "depth": q.depth})
	})
}

// TestNoHistoryLetsInMoreThanTheLimits adds passes that are given back: whatever happens,
// who stays in is never more than a burst and the rate, a minute's tokens, a day's messages.
func TestNoHistoryLetsInMoreThanTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueueing(t)
		t.Repeat(map[string]func(*rapid.T){
			"": q.within, "enter": q.let, "enter 2": q.let, "enter 3": q.let, "clock": q.clock, "depth": q.depth, "back": q.giveBack,
		})
	})
}

func newQueueing(t *rapid.T) *queueing {
	allowance := rapid.Custom(func(t *rapid.T) Allowance {
		return Allowance{
			QPS: rapid.SampledFrom([]int{0, 1, 3, 50}).Draw(t, "qps"), Burst: rapid.IntRange(0, 5).Draw(t, "burst"),
			Tokens: rapid.SampledFrom([]int{0, 20, 100}).Draw(t, "tokens"), Daily: rapid.SampledFrom([]int{0, 7, 20}).Draw(t, "daily"),
		}
	})
	q := &queueing{
		cfg: Intake{
			Tenant: allowance.Draw(t, "of all"), Tenants: map[string]Allowance{"own": allowance.Draw(t, "of one")},
			UserTokens: rapid.SampledFrom([]int{0, 15, 40}).Draw(t, "tokens of a customer"),
			Tighten:    Tighten{At: 0.8, Until: 0.5, Factor: rapid.SampledFrom([]float64{0.1, 0.4, 1}).Draw(t, "factor")},
		},
		now: begin.Add(12*time.Hour - 5*time.Second), tight: map[chat.Lane]time.Time{},
	}
	q.turns, q.clean = NewTurnstile(q.cfg), NewTurnstile(q.cfg)
	if rapid.Bool().Draw(t, "somebody was before") {
		q.since = q.now
		q.turns.Empty(q.now, q.now)
		q.clean.Empty(q.now, q.now)
	}
	return q
}

func (q *queueing) clock(t *rapid.T) {
	q.now = q.now.Add(time.Duration(rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 90_000)).Draw(t, "ms")) * time.Millisecond)
}

func (q *queueing) depth(t *rapid.T) {
	lane := rapid.SampledFrom([]chat.Lane{chat.Low, chat.Normal}).Draw(t, "lane")
	depth := rapid.IntRange(0, 12).Draw(t, "depth")
	q.turns.SetDepth(lane, depth, 10, q.now)
	q.clean.SetDepth(lane, depth, 10, q.now)
	if _, tight := q.tight[lane]; !tight && depth >= 8 {
		q.tight[lane] = q.now
	} else if depth <= 5 {
		delete(q.tight, lane)
	}
}

func (q *queueing) draw(t *rapid.T) chat.Arrival {
	a := chat.Arrival{
		Tenant: rapid.SampledFrom([]string{"own", "x", "y"}).Draw(t, "tenant"),
		Lane:   rapid.SampledFrom([]chat.Lane{chat.Low, chat.Normal}).Draw(t, "lane"),
		Urgent: rapid.IntRange(0, 4).Draw(t, "urgent") == 0, Bytes: rapid.IntRange(0, 90).Draw(t, "bytes"),
	}
	if customer := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "customer"); customer != "" {
		a.Customer = a.Tenant + customer
	}
	return a
}

// expected is when each limit lets a message in, by the list. Of tokens it says when the
// message may go at the earliest and must go at the latest: a part of the window is
// as long as they may count too long.
func (q *queueing) expected(a chat.Arrival) (exact map[Limit]time.Time, early, late map[Limit]bool) {
	allowed := q.cfg.allowance(a.Tenant)
	exact, early, late = map[Limit]time.Time{}, map[Limit]bool{}, map[Limit]bool{}
	mine := q.of(func(r record) bool { return r.Tenant == a.Tenant })
	if allowed.QPS > 0 {
		every, burst := newRate(allowed.QPS, 1).every, max(allowed.Burst, 1)
		exact[LimitRate] = opening(mine, every, burst, q.since.Add(time.Duration(burst)*every))
		if since, tight := q.tight[a.Lane]; tight && !a.Urgent {
			r := rate{every, burst}.slowed(q.cfg.Tighten.Factor)
			slow := q.of(func(m record) bool { return m.Tenant == a.Tenant && m.Lane == a.Lane && m.tightSince.Equal(since) })
			exact[LimitLane] = opening(slow, r.every, r.burst, since.Add(time.Duration(r.burst-1)*r.every))
		}
	}
	if day := q.of(func(r record) bool {
		return r.Tenant == a.Tenant && r.At.Day() == q.now.Day() && r.At.Month() == q.now.Month()
	}); allowed.Daily > 0 && len(day) >= allowed.Daily {
		exact[LimitDay] = q.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	tokens := (a.Bytes + 2) / 3
	judge := func(l Limit, limit int, part time.Duration, of func(record) int) {
		if limit == 0 {
			return
		}
		sum := func(length time.Duration) (n int) {
			for _, r := range q.all {
				if q.now.Sub(r.At) < length {
					n += of(r)
				}
			}
			return n
		}
		early[l] = sum(time.Minute+part)+min(tokens, limit) <= limit
		late[l] = sum(time.Minute)+min(tokens, limit) > limit
	}
	judge(LimitTokens, allowed.Tokens, tokenPart, func(r record) int {
		if r.Tenant != a.Tenant {
			return 0
		}
		return r.Tokens
	})
	if a.Customer != "" {
		judge(LimitUser, q.cfg.UserTokens, userPart, func(r record) int {
			if r.Customer != a.Customer {
				return 0
			}
			return r.UserTokens
		})
	}
	return exact, early, late
}

func (q *queueing) of(fits func(record) bool) (some []record) {
	for _, r := range q.all {
		if fits(r) {
			some = append(some, r)
		}
	}
	return some
}

// opening returns when one more may go: with those after any earlier message it must fit
// into the burst and what has come since; and into what has come since the bucket,
// which is full at a time, was empty.
func opening(all []record, every time.Duration, burst int, full time.Time) time.Time {
	opensAt := full.Add(time.Duration(len(all)+1-burst) * every)
	for i, r := range all {
		opensAt = later(opensAt, r.At.Add(time.Duration(len(all)-i+1-burst)*every))
	}
	return opensAt
}

func (q *queueing) enter(t *rapid.T) {
	a := q.draw(t)
	exact, early, late := q.expected(a)
	pass, turned := q.turns.Enter(a, q.now)
	var wait time.Duration
	for _, opensAt := range exact {
		wait = max(wait, opensAt.Sub(q.now))
	}
	switch {
	case turned == nil && (wait > 0 || late[LimitTokens] || late[LimitUser]):
		t.Fatalf("%+v goes at %s, but %v, %v say no", a, q.now, exact, late)
	case turned != nil && (turned.Limit == LimitTokens || turned.Limit == LimitUser):
		if early[turned.Limit] || turned.Wait < wait || turned.Wait > time.Minute+userPart {
			t.Fatalf("%+v is turned away by %+v, but has room, or %v comes later", a, turned, exact)
		}
		return
	case turned != nil:
		if turned.Wait != wait || exact[turned.Limit].Sub(q.now) != wait {
			t.Fatalf("%+v is turned away by %+v, want %s of %v", a, turned, wait, exact)
		}
		return
	}
	if _, turned := q.clean.Enter(a, q.now); turned != nil {
		t.Fatalf("%+v goes, but not where nobody was turned away before: %+v", a, turned)
	}
	if x, y := q.turns.Today(q.now), q.clean.Today(q.now); !maps.Equal(x.Counts, y.Counts) {
		t.Fatalf("of the day %v count, want %v", x.Counts, y.Counts)
	}
	q.book(pass)
}

// let is enter for histories in which passes are given back.
func (q *queueing) let(t *rapid.T) {
	if pass, turned := q.turns.Enter(q.draw(t), q.now); turned == nil {
		q.book(pass)
	}
}

func (q *queueing) book(p Pass) {
	r := record{Pass: p}
	allowed := q.cfg.allowance(p.Tenant)
	if p.Tight && allowed.QPS > 0 {
		r.tightSince, r.pace = q.tight[p.Lane], allowed.rate().slowed(q.cfg.Tighten.Factor)
	}
	q.all = append(q.all, r)
}

func (q *queueing) giveBack(t *rapid.T) {
	var open []int
	for i, r := range q.all {
		if !r.back && q.now.Sub(r.At) < 10*time.Second {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return
	}
	i := rapid.SampledFrom(open).Draw(t, "pass")
	q.turns.Back(q.all[i].Pass, q.now)
	q.all[i].back = true
}

// within looks at every stretch of time between two messages that stayed in.
func (q *queueing) within(t *rapid.T) {
	for tenant := range map[string]bool{"own": true, "x": true, "y": true} {
		allowed := q.cfg.allowance(tenant)
		stayed := q.of(func(r record) bool { return r.Tenant == tenant && !r.back })
		r := newRate(allowed.QPS, allowed.Burst)
		q.stretches(t, "a tenant", r.every, r.burst, stayed)
		for _, first := range stayed {
			together := func(r record) bool { return r.Lane == first.Lane && r.tightSince.Equal(first.tightSince) }
			slow := slices.DeleteFunc(slices.Clone(stayed), func(r record) bool { return !together(r) })
			if first.pace != (rate{}) {
				q.stretches(t, "a tight lane", first.pace.every, first.pace.burst, slow)
			}
		}
		days := map[int]int{}
		for _, r := range stayed {
			days[r.At.YearDay()]++
			if n := minute(stayed, r.At, func(r record) int { return r.Tokens }); allowed.Tokens > 0 && n > allowed.Tokens {
				t.Fatalf("%d tokens of a tenant in the minute up to %s, want at most %d", n, r.At, allowed.Tokens)
			}
			own := slices.DeleteFunc(slices.Clone(stayed), func(other record) bool { return other.Customer != r.Customer })
			if n := minute(own, r.At, func(r record) int { return r.UserTokens }); r.Customer != "" && q.cfg.UserTokens > 0 && n > q.cfg.UserTokens {
				t.Fatalf("%d tokens of a customer in the minute up to %s, want at most %d", n, r.At, q.cfg.UserTokens)
			}
		}
		for day, n := range days {
			if allowed.Daily > 0 && n > allowed.Daily {
				t.Fatalf("%d messages on day %d, want at most %d", n, day, allowed.Daily)
			}
		}
	}
}

func (q *queueing) stretches(t *rapid.T, whose string, every time.Duration, burst int, stayed []record) {
	if every == 0 {
		return
	}
	for i := range stayed {
		for j := i; j < len(stayed); j++ {
			if most := burst + int(stayed[j].At.Sub(stayed[i].At)/every); j-i+1 > most {
				t.Fatalf("%d messages of %s from %s to %s, want at most %d", j-i+1, whose, stayed[i].At, stayed[j].At, most)
			}
		}
	}
}

// minute sums what counts in the minute up to a moment.
func minute(all []record, until time.Time, of func(record) int) (sum int) {
	for _, r := range all {
		if d := until.Sub(r.At); d >= 0 && d < time.Minute {
			sum += of(r)
		}
	}
	return sum
}
