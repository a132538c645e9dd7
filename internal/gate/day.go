package gate

import (
	"maps"
	"time"
)

// Day is how many messages have come in on one day by UTC, of tenants that have a limit
// of them. Unlike all else that a Turnstile counts it is worth keeping.
type Day struct {
	Number int64          `json:"day"` // days since 1970
	Counts map[string]int `json:"counts"`
}

const dayLength = 24 * 60 * 60 // seconds

// Today returns a copy of what has come in on the day of now.
func (t *Turnstile) Today(now time.Time) Day {
	t.today.turn(now)
	return Day{Number: t.today.Number, Counts: maps.Clone(t.today.Counts)}
}

// Recall adds what was let in before this turnstile was made; another day's is over.
func (t *Turnstile) Recall(d Day, now time.Time) {
	t.today.turn(now)
	if d.Number != t.today.Number {
		return
	}
	for tenant, n := range d.Counts {
		t.today.Counts[tenant] += max(n, 0)
	}
}

// turn begins a new day when it has come.
func (d *Day) turn(now time.Time) {
	if number := now.Unix() / dayLength; number != d.Number {
		*d = Day{Number: number, Counts: map[string]int{}}
	}
}

func (d *Day) end() time.Time { return time.Unix((d.Number+1)*dayLength, 0) }

func (d *Day) full(tenant string, most int) bool { return most > 0 && d.Counts[tenant] >= most }

func (d *Day) giveBack(p Pass) {
	if p.At.Unix()/dayLength == d.Number && d.Counts[p.Tenant] > 0 {
		d.Counts[p.Tenant]--
	}
}
