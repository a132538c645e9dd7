package gate

import (
	"container/heap"
	"maps"
	"slices"
	"strings"

	"sluice/internal/chat"
)

// band holds the waiters of one rank. Its tenants take turns: each has a tag, the one
// with the lowest is served and its tag rises by 1 ÷ weight, so that one tenant's many
// jobs cost another nothing but its share. That is start-time fair queueing (Goyal, Vin
// and Cheng 1996) with jobs of equal length.
type band struct {
	classes map[string]*class
	tags    map[string]float64 // by tenant; one at or below clock says no more than that
	waits   map[string]int     // by tenant
	clock   float64            // tag of the tenant served last: nobody's is lower
	count   int
}

func newBand() *band {
	return &band{classes: map[string]*class{}, tags: map[string]float64{}, waits: map[string]int{}}
}

// class is the waiters of a band who can use the same permits.
type class struct {
	key     string
	lane    chat.Lane
	model   string
	vendors []string
	order   heapOf[*tenantLine]
	tenants map[string]*tenantLine
}

// tenantLine is a tenant's waiters in one class.
type tenantLine struct {
	tenant string
	tag    float64         // as the heap knows it; the band's may be higher
	asks   heapOf[*waiter] // first come first
	place  int             // in class.order
}

func (l *tenantLine) precedes(other *tenantLine) bool {
	if l.tag != other.tag {
		return l.tag < other.tag
	}
	return l.asks[0].precedes(other.asks[0])
}

func (l *tenantLine) put(at int) { l.place = at }

func classKey(a *Ask) string {
	return string(a.Lane) + " " + a.Model + " " + strings.Join(a.Vendors, " ")
}

// add puts a waiter into the band.
func (b *band) add(w *waiter) {
	key := classKey(&w.Ask)
	c := b.classes[key]
	if c == nil {
		c = &class{key: key, lane: w.Lane, model: w.Model, vendors: slices.Clone(w.Vendors), tenants: map[string]*tenantLine{}}
		b.classes[key] = c
	}
	b.waits[w.Tenant]++
	b.count++
	l := c.tenants[w.Tenant]
	if l == nil {
		l = &tenantLine{tenant: w.Tenant, tag: b.tag(w.Tenant)}
		c.tenants[w.Tenant] = l
		heap.Push(&l.asks, w)
		heap.Push(&c.order, l)
	} else {
		heap.Push(&l.asks, w)
		heap.Fix(&c.order, l.place)
	}
	w.band, w.class = b, c
}

// remove takes a waiter out of its band.
func (b *band) remove(w *waiter) {
	c := w.class
	l := c.tenants[w.Tenant]
	heap.Remove(&l.asks, w.place)
	if len(l.asks) == 0 {
		heap.Remove(&c.order, l.place)
		delete(c.tenants, w.Tenant)
	} else {
		heap.Fix(&c.order, l.place)
	}
	if len(c.tenants) == 0 {
		delete(b.classes, c.key)
	}
	change(b.waits, w.Tenant, -1)
	b.count--
	w.band, w.class = nil, nil
}

func (b *band) tag(tenant string) float64 { return max(b.tags[tenant], b.clock) }

// tagsKept is from how many tags on those are looked for that can be forgotten.
const tagsKept = 64

// served moves the tenant's tag, after one of its waiters was granted.
func (b *band) served(tenant string, weight float64) {
	b.clock = b.tag(tenant)
	b.tags[tenant] = b.clock + 1/weight
	if len(b.tags) > 2*len(b.waits)+tagsKept {
		maps.DeleteFunc(b.tags, func(_ string, tag float64) bool { return tag <= b.clock })
	}
}

// first returns the class's waiter that comes next. Tags only rise, so the heap is put
// right where it is looked at.
func (c *class) first(b *band) *waiter {
	for {
		l := c.order[0]
		if tag := b.tag(l.tenant); tag != l.tag {
			l.tag = tag
			heap.Fix(&c.order, 0)
			continue
		}
		return l.asks[0]
	}
}

// precedes reports whether w comes before v, both of this band.
func (b *band) precedes(w, v *waiter) bool {
	if s, t := b.tag(w.Tenant), b.tag(v.Tenant); s != t {
		return s < t
	}
	return w.sooner(&v.Ask)
}
