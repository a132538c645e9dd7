package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"sluice/internal/chat"
)

// number is one of the values that are changed most: where it stands in the document, and
// how its field is got at.
type number struct {
	path string
	with func(r *Rules, use func(field any)) // field: *int, *float64 or *time.Duration
}

// Numbers returns the values that are changed most, as the document would spell them, by
// the path that a fault names: "lanes.high.bound": "500". Those of vendors are not among
// them; WithVendor changes those.
func (r *Rules) Numbers() map[string]string {
	all := map[string]string{}
	for _, n := range numbers() {
		n.with(r, func(field any) {
			switch v := field.(type) {
			case *int:
				all[n.path] = strconv.Itoa(*v)
			case *float64:
				all[n.path] = strconv.FormatFloat(*v, 'f', -1, 64)
			case *time.Duration:
				all[n.path] = spell(*v)
			}
		})
	}
	return all
}

// WithNumbers returns the document with other values of some of Numbers. All else keeps its
// text, comments included. The document must be valid; what is no such value comes back as
// a Fault of its path.
func WithNumbers(doc []byte, values map[string]string) ([]byte, error) {
	known := map[string]number{}
	for _, n := range numbers() {
		known[n.path] = n
	}
	read, err := Parse("rules", doc)
	if err != nil {
		return nil, err
	}
	var all []setting
	for _, path := range slices.Sorted(maps.Keys(values)) {
		n, ok := known[path]
		if !ok {
			return nil, &Fault{File: "rules", Line: 1, Column: 1, Field: path, Reason: "is none of the numbers that can be set by themselves"}
		}
		if err := n.set(read, values[path]); err != nil {
			return nil, Blame("rules", doc, path, err.Error())
		}
		if strings.HasPrefix(path, "valve.levels") && !hasLevels(doc) {
			return nil, ErrLayout // the default's stand in
		}
		all = append(all, setting{strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), "."), values[path]})
	}
	return edit(doc, func(r *Rules) {
		for path, value := range values {
			_ = known[path].set(r, value) // read above without a fault
		}
	}, all...)
}

// hasLevels reports whether a document has a list of levels of its own.
func hasLevels(doc []byte) bool {
	root := (&document{at: map[string]place{}}).parse(doc)
	valve := entry(root, "valve")
	if valve == nil {
		return false
	}
	levels := entry(valve.Value, "levels")
	return levels != nil && levels.Value.Type() == ast.SequenceType
}

// set reads a value into its field. Whether it is in its range is left to the check of the
// document.
func (n number) set(r *Rules, value string) (err error) {
	n.with(r, func(field any) {
		switch v := field.(type) {
		case *int:
			if *v, err = strconv.Atoi(value); err != nil {
				err = fmt.Errorf("must be a whole number, is %s", quote(value))
			}
		case *float64:
			if *v, err = strconv.ParseFloat(value, 64); err != nil {
				err = fmt.Errorf("must be a number such as 0.5, is %s", quote(value))
			}
		case *time.Duration:
			if *v, err = parseDuration(value); err != nil {
				err = fmt.Errorf("must be a duration such as 10s, 5m or 90d, is %s", quote(value))
			}
		}
	})
	return err
}

func numbers() []number {
	all := []number{
		{"intake.tenant.qps", in(func(r *Rules) any { return &r.Intake.Tenant.QPS })},
		{"intake.tenant.burst", in(func(r *Rules) any { return &r.Intake.Tenant.Burst })},
		{"valve.window", in(func(r *Rules) any { return &r.Valve.Window })},
		{"valve.min_calls", in(func(r *Rules) any { return &r.Valve.MinCalls })},
		{"valve.hold", in(func(r *Rules) any { return &r.Valve.Hold })},
		{"valve.urgent_wait", in(func(r *Rules) any { return &r.Valve.UrgentWait })},
		{"valve.urgent_share", in(func(r *Rules) any { return &r.Valve.UrgentShare })},
		{"cache.answers", in(func(r *Rules) any { return &r.Cache.Answers })},
		{"sms.per_number_per_day", in(func(r *Rules) any { return &r.SMS.PerNumberPerDay })},
		{"sms.per_tenant_per_day", in(func(r *Rules) any { return &r.SMS.PerTenantPerDay })},
		{"sockets.max", in(func(r *Rules) any { return &r.Sockets.Max })},
		{"retention.tickets", in(func(r *Rules) any { return &r.Retention.Tickets })},
		{"retention.events", in(func(r *Rules) any { return &r.Retention.Events })},
		{"max_deliver", in(func(r *Rules) any { return &r.MaxDeliver })},
	}
	for _, name := range chat.Lanes() {
		at := "lanes." + string(name) + "."
		all = append(all,
			number{at + "bound", inLane(name, func(l *Lane) any { return &l.Bound })},
			number{at + "max_wait", inLane(name, func(l *Lane) any { return &l.MaxWait })})
	}
	for i := range 3 {
		at := "valve.levels[" + strconv.Itoa(i) + "]."
		all = append(all,
			number{at + "depth", in(func(r *Rules) any { return &r.Valve.Levels[i].Depth })},
			number{at + "errors", in(func(r *Rules) any { return &r.Valve.Levels[i].Errors })},
			number{at + "p99", in(func(r *Rules) any { return &r.Valve.Levels[i].P99 })},
			number{at + "wait", in(func(r *Rules) any { return &r.Valve.Levels[i].Wait })})
	}
	return all
}

func in(field func(*Rules) any) func(*Rules, func(any)) {
	return func(r *Rules, use func(any)) { use(field(r)) }
}

func inLane(name chat.Lane, field func(*Lane) any) func(*Rules, func(any)) {
	return func(r *Rules, use func(any)) {
		l := r.Lanes[name]
		use(field(&l))
		r.Lanes[name] = l
	}
}

// spell writes a duration the short way: 90d, 30m, 1h30m.
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
