package gate

import (
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// MaxWaiters bounds the waiters of one table.
const MaxWaiters = 50_000

// ErrCrowded says that MaxWaiters wait already. Whoever is turned away waits for its
// own deadline and is answered without a vendor.
var ErrCrowded = errors.New("too many wait for a permit")

// Table holds the permits of all vendors, everyone who waits for one, and the turns of
// the sessions. It does no I/O and starts nothing; it is not safe for concurrent use.
type Table struct {
	cfg      Config
	accounts map[string]*account
	permits  map[uint64]Permit
	ended    map[uint64]bool // of permits: how the call ended was told
	waiters  map[uint64]*waiter
	tickets  map[string]*waiter // the latest waiter of each ticket
	sessions map[string]*session
	bands    []*band       // by rank; the last is for steps
	risers   heapOf[riser] // the next one first
	last     uint64
	calls    callRate
	shares   shares
	budget   *RetryBudget
}

// retryShare is how many retries there may be for each first call: the client-side
// budget of 10 % of Google's SRE book, chapter 21.
const retryShare = 0.1

// NewTable returns a table under cfg, which was validated.
func NewTable(cfg Config) *Table {
	t := &Table{
		accounts: map[string]*account{}, permits: map[uint64]Permit{}, ended: map[uint64]bool{}, waiters: map[uint64]*waiter{},
		tickets: map[string]*waiter{}, sessions: map[string]*session{},
		budget: NewRetryBudget(retryShare),
	}
	for range stepRank + 1 {
		t.bands = append(t.bands, newBand())
	}
	t.shares = make(shares, len(t.bands))
	t.SetConfig(cfg)
	return t
}

// SetConfig puts new limits in force. A vendor that is left out grants nothing more;
// what is in use above a lower limit ends in its own time, and until then nobody is let
// in. Who waits already keeps the rank that it has.
func (t *Table) SetConfig(cfg Config) {
	t.cfg = cfg
	for name, v := range cfg.Vendors {
		if t.accounts[name] == nil {
			t.accounts[name] = newAccount()
		}
		t.accounts[name].configure(v)
	}
	for name, a := range t.accounts {
		if _, there := cfg.Vendors[name]; there {
			continue
		}
		if a.removed = true; a.inUse == 0 {
			delete(t.accounts, name)
		}
	}
}

// Join makes a wait until it is granted or leaves. A *Refusal: it would wait in vain by
// what is known at now. ErrCrowded: the table is full.
func (t *Table) Join(a Ask, now time.Time) error {
	if err := a.check(); err != nil {
		return err
	}
	if len(t.waiters) >= MaxWaiters {
		return ErrCrowded
	}
	if _, taken := t.waiters[a.ID]; taken {
		return fmt.Errorf("waiter %d joins twice", a.ID)
	}
	w := &waiter{Ask: a, rank: stepRank}
	if !a.Step {
		w.rank = a.Lane.Rank()
		t.ageing(w)
	}
	t.waiters[a.ID], t.tickets[a.Ticket] = w, w
	t.stand(w)
	t.age(now)
	if refusal := t.predict(w, now); refusal != nil {
		t.Leave(a.ID)
		return refusal
	}
	return nil
}

// Leave ends the wait of a waiter; it is no error if there is none.
func (t *Table) Leave(id uint64) {
	w := t.waiters[id]
	if w == nil {
		return
	}
	delete(t.waiters, id)
	if t.tickets[w.Ticket] == w {
		delete(t.tickets, w.Ticket)
	}
	t.unstand(w)
}

// Grant is a permit and the ask that it answers.
type Grant struct {
	Ask    Ask
	Permit Permit
	Turn   bool // the session's turn came with it
}

// Grants gives out every permit that can be given at now, best waiter first.
func (t *Table) Grants(now time.Time) []Grant {
	t.age(now)
	var all []Grant
	for len(t.waiters) > 0 {
		w, vendor, pool := t.next(now)
		if w == nil {
			break
		}
		w.band.served(w.Tenant, t.cfg.weight(w.Tenant))
		if !t.accounts[vendor].cfg.Tool {
			t.shares.count(w.rank)
		}
		t.Leave(w.ID)
		g := Grant{Ask: w.Ask, Permit: t.give(&w.Ask, vendor, pool, now), Turn: w.needsTurn()}
		if g.Turn {
			t.setTurn(w.sessionKey(), w.Ticket)
		}
		all = append(all, g)
	}
	return all
}

// Retry grants a retry at once, or refuses it: it never waits, and takes nothing that
// a first call has not left. At the vendor whose call has failed (Ask.Instead) the permit
// of that call makes the room, and goes back.
func (t *Table) Retry(a Ask, now time.Time) (Grant, error) {
	if err := a.check(); err != nil {
		return Grant{}, err
	}
	for _, vendor := range a.Vendors {
		account := t.accounts[vendor]
		if account == nil || t.cfg.Lanes[a.Lane].Paused || !account.well(now) ||
			!t.budget.Room(account.retries, account.limit(now), account.cfg.Retry) {
			continue
		}
		failed, swap := t.permits[a.Instead]
		if swap = swap && failed.Vendor == vendor; swap {
			account.count(failed, -1)
		}
		pool, ok := account.room(&a, t.cfg.Lanes[a.Lane], now)
		if swap {
			account.count(failed, 1)
		}
		if !ok {
			continue
		}
		if swap {
			t.Release(a.Instead, now)
		}
		return Grant{Ask: a, Permit: t.give(&a, vendor, pool, now)}, nil
	}
	return Grant{}, &Refusal{Reason: ReasonBudget}
}

// give makes a permit of a vendor that has room.
func (t *Table) give(a *Ask, vendor string, pool Pool, now time.Time) Permit {
	t.last++
	p := Permit{
		ID: t.last, Vendor: vendor, Tenant: a.Tenant, Ticket: a.Ticket, Lane: a.Lane, Model: a.Model, Pool: pool, Retry: a.Retry, GrantedAt: now,
	}
	t.permits[p.ID] = p
	t.accounts[vendor].take(p, a.Tokens, now)
	switch {
	case t.accounts[vendor].cfg.Tool:
	case a.Retry:
		t.budget.Take()
	default:
		t.budget.Call()
		t.calls.count(a.Step)
	}
	return p
}

// End takes in how the call of a permit ended, which may be some time before the permit
// comes back. Only the first word counts, of an unknown permit none: then it returns false.
func (t *Table) End(id uint64, e End, now time.Time) (Permit, bool) {
	p, held := t.permits[id]
	if !held || t.ended[id] {
		return p, false
	}
	t.ended[id] = true
	t.accounts[p.Vendor].end(p, e, now)
	return p, true
}

// Release gives a permit back and returns it; false: it was back already.
func (t *Table) Release(id uint64, now time.Time) (Permit, bool) {
	p, held := t.permits[id]
	if !held {
		return Permit{}, false
	}
	delete(t.permits, id)
	delete(t.ended, id)
	a := t.accounts[p.Vendor]
	a.count(p, -1)
	a.holds.add(now.Sub(p.GrantedAt))
	if a.breaker != nil {
		a.breaker.End(p.ID, Ignored, now) // unless its end was told
	}
	if a.removed && a.inUse == 0 {
		delete(t.accounts, p.Vendor)
	}
	return p, true
}

// EndTurn lets the next ticket of a session begin; only the ticket whose turn it is
// can end it.
func (t *Table) EndTurn(tenant, session, ticket string) {
	key := tenant + "." + session
	if s := t.sessions[key]; s != nil && s.turn == ticket {
		t.setTurn(key, "")
	}
}

// InUse returns the permits in use at a vendor, and how many may be at now.
func (t *Table) InUse(vendor string, now time.Time) (used, limit int) {
	a := t.accounts[vendor]
	if a == nil {
		return 0, 0
	}
	return a.inUse, a.limit(now)
}

// Waits returns for each lane how long its ticket that was accepted first has waited by
// now; missing: nobody waits for a first call there.
func (t *Table) Waits(now time.Time) map[chat.Lane]time.Duration {
	all := map[chat.Lane]time.Duration{}
	for _, w := range t.waiters {
		if !w.Step {
			all[w.Lane] = max(all[w.Lane], now.Sub(w.AcceptedAt))
		}
	}
	return all
}

// Waiting returns how many wait.
func (t *Table) Waiting() int { return len(t.waiters) }
