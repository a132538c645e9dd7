package api

import (
	"sync"
	"time"

	"sluice/internal/chat"
)

// How the part of urgent messages is measured: of a tenant's messages over the last five
// minutes, in parts of ten seconds, once there are enough to tell a share; and of a session
// over the last minute.
const (
	crowdPart     = 10 * time.Second
	crowdParts    = 30
	crowdLeast    = 20
	sessionUrgent = 3 // a minute
	sessionWindow = time.Minute
	// Beyond so many, further ones are not counted, and go as their intent says.
	crowdTenants  = 20_000
	crowdSessions = 100_000
)

// crowd guards the lane of urgent messages against a classifier that finds too many:
// beyond a part of their tenant's traffic, or three in a session's minute, they go as any
// other. Each node counts what it takes in. It is safe for concurrent use.
type crowd struct {
	share func() float64 // the most that may be urgent, of 1

	mu       sync.Mutex
	tenants  map[string]*traffic
	sessions map[string][]time.Time // of the urgent ones, oldest first, at most sessionUrgent
	tidied   time.Time
}

// traffic is a tenant's messages of late.
type traffic struct {
	parts [crowdParts]struct{ all, urgent int }
	at    int64 // number of the newest part
}

func newCrowd(share func() float64) *crowd {
	return &crowd{share: share, tenants: map[string]*traffic{}, sessions: map[string][]time.Time{}}
}

// full reports whether one more urgent message of a session is one too many at now.
func (c *crowd) full(t *chat.Ticket, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.sessions[t.Tenant+"."+t.Session]
	if len(all) >= sessionUrgent && now.Sub(all[0]) < sessionWindow {
		return true
	}
	traffic := c.tenants[t.Tenant]
	if traffic == nil {
		return false
	}
	sum, urgent := traffic.sum(now)
	return sum+1 >= crowdLeast && float64(urgent+1) > c.share()*float64(sum+1)
}

// count takes in a message that was accepted at now. One that went as any other although
// it is urgent counts as urgent all the same.
func (c *crowd) count(t *chat.Ticket, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tidy(now)
	if traffic := c.of(t.Tenant); traffic != nil {
		traffic.turn(now)
		part := &traffic.parts[traffic.at%crowdParts]
		part.all++
		if t.Urgent {
			part.urgent++
		}
	}
	key := t.Tenant + "." + t.Session
	if all, known := c.sessions[key]; t.Urgent && (known || len(c.sessions) < crowdSessions) {
		all = append(all, now)
		c.sessions[key] = all[max(0, len(all)-sessionUrgent):]
	}
}

// of returns a tenant's traffic; nil: there is no place for one more.
func (c *crowd) of(tenant string) *traffic {
	known := c.tenants[tenant]
	if known == nil && len(c.tenants) < crowdTenants {
		known = &traffic{}
		c.tenants[tenant] = known
	}
	return known
}

// tidy forgets once a minute who has not written of late.
func (c *crowd) tidy(now time.Time) {
	if now.Sub(c.tidied) < sessionWindow {
		return
	}
	c.tidied = now
	for key, all := range c.sessions {
		if now.Sub(all[len(all)-1]) >= sessionWindow {
			delete(c.sessions, key)
		}
	}
	for name, t := range c.tenants {
		if partOf(now)-t.at >= crowdParts {
			delete(c.tenants, name)
		}
	}
}

func partOf(now time.Time) int64 { return now.UnixNano() / int64(crowdPart) }

// turn empties the parts that have passed since the newest.
func (t *traffic) turn(now time.Time) {
	at := partOf(now)
	for n := max(t.at+1, at-crowdParts+1); n <= at; n++ {
		t.parts[n%crowdParts] = struct{ all, urgent int }{}
	}
	t.at = max(t.at, at)
}

func (t *traffic) sum(now time.Time) (all, urgent int) {
	t.turn(now)
	for _, p := range t.parts {
		all, urgent = all+p.all, urgent+p.urgent
	}
	return all, urgent
}
