package drill

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
	"sluice/internal/rules"
)

//go:embed degrade.txt
var degradeQuestions string

// What must be shown: as much of what is urgent is answered by a vendor, and the level is
// back in time once the load is.
const (
	leastUrgent = 0.99
	levelSlack  = time.Second // for the looks at it, and the last calls
)

// slope is the load as it rises and falls, as parts of the capacity; its last step lasts
// until the level is 0 again.
func slope() []float64 { return []float64{0.5, 1, 2, 3, 3, 2, 1, 0.5} }

// few are three small vendors: three times what they take is still little for a machine.
func few() []account {
	return []account{{name: "a", quota: 5, permits: 4}, {name: "b", quota: 4, permits: 3}, {name: "c", quota: 3, permits: 2}}
}

// degrade raises the load far beyond what the vendors take and lowers it again, and looks
// how well messages are answered meanwhile.
func degrade(ctx context.Context, d *drill) error {
	one, err := d.startSolo(ctx, few(), setting{levels: true})
	if err != nil {
		return err
	}
	look, err := d.watchLevels(ctx, one)
	if err != nil {
		return err
	}
	capacity := float64(permitsOf(few())) / callMean.Seconds()
	step := d.long(4 * time.Second)
	d.begin("0.5× of the capacity")
	var running []*load.Running
	var falls time.Time
	for i, factor := range slope() {
		at, over := time.Duration(i)*step, step
		if i == len(slope())-1 {
			over = valveWindow + 3*valveHold + 2*levelSlack
		}
		begun, err := d.at(ctx, at, fmt.Sprintf("%g×", factor))
		if err != nil {
			return err
		}
		if i == len(slope())-1 {
			falls = begun
		}
		p, err := d.load(ctx, target(one.base, one.tenants), load.BurstConfig{
			Tickets: int(factor * capacity * over.Seconds()), Over: over, Sessions: anySession, Timeout: 30 * time.Second,
			Questions: strings.Split(strings.TrimSpace(degradeQuestions), "\n"), Seed: d.cfg.Seed + uint64(i),
			Lanes: map[chat.Lane]float64{chat.Normal: 0.8, chat.Low: 0.2},
		})
		if err != nil {
			return err
		}
		running = append(running, p)
	}
	var all []played
	for _, r := range running {
		all = append(all, wait(r))
	}
	levels, err := look()
	if err != nil {
		return err
	}
	d.judgeDegrade(all, levels, falls)
	return nil
}

// judgeDegrade checks what was promised of the levels and of the answers.
func (d *drill) judgeDegrade(all []played, levels []levelAt, falls time.Time) {
	d.keeps(promise{exempt: func(o load.Outcome) bool { return o.Urgent }}, all...)
	highest, back := 0, time.Duration(0)
	for _, l := range levels {
		highest = max(highest, l.level)
		if l.level > 0 {
			back = max(0, l.at.Sub(falls))
		}
	}
	d.check("the highest level", "≥ 2", fmt.Sprint(highest), highest >= 2)
	d.atMost("level 0 again after the load has fallen: window + 3 × hold", valveWindow+3*valveHold+levelSlack, back)
	if len(levels) > 0 {
		last := levels[len(levels)-1].level
		d.check("the level at the end", "0", fmt.Sprint(last), last == 0)
	}
	urgent, byVendor, known, generic := 0, 0, 0, 0
	for _, p := range all {
		for _, o := range p.all {
			if o.Status != chat.Answered {
				continue
			}
			if o.Urgent {
				urgent++
				if o.Answered() {
					byVendor++
				}
			}
			if o.Intent != rules.Other {
				known++
				if isGeneric(o.Reply) {
					generic++
				}
			}
		}
	}
	d.share("urgent answered by a vendor", leastUrgent, byVendor, urgent)
	d.check("messages whose intent was known", "> 0", fmt.Sprint(known), known > 0)
	d.none("of these, answered as if nobody knew what was asked", generic)
	d.shows(all...)
	d.levelSeries(all, levels)
}

// isGeneric reports whether a reply is a shipped answer to what nobody has understood.
func isGeneric(reply string) bool {
	for _, in := range shippedIntents() {
		if in.Name != rules.Other {
			continue
		}
		for _, texts := range in.Template {
			if slices.ContainsFunc(texts, func(text string) bool { return says(reply, text) }) {
				return true
			}
		}
	}
	return false
}

// says reports whether a reply is a wording with its gaps filled in.
func says(reply, wording string) bool {
	for i, part := range strings.Split(rules.Gap.ReplaceAllString(wording, "\x00"), "\x00") {
		at := strings.Index(reply, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		reply = reply[at+len(part):]
	}
	return reply == ""
}

func shippedIntents() []rules.Intent {
	r, err := rules.Parse("shipped", nil)
	if err != nil {
		return nil // the shipped rules are tested
	}
	return r.Intents
}

// levelSeries draws the levels, how messages were answered, and how many of them by a vendor.
func (d *drill) levelSeries(all []played, levels []levelAt) {
	level := Series{Name: "level"}
	for _, l := range levels {
		if i := int(l.at.Sub(d.begunAt) / halfSecond); i >= 0 {
			for len(level.Values) <= i {
				level.Values = append(level.Values, 0)
			}
			level.Values[i] = max(level.Values[i], float64(l.level))
		}
	}
	d.out.Levels = []Series{level}
	byRoute := map[string]*Series{}
	for _, p := range all {
		for _, o := range p.all {
			i := int(o.AcceptedAt.Sub(d.begunAt) / halfSecond)
			if o.EndedAt.IsZero() || o.Route == "" || i < 0 {
				continue
			}
			s := byRoute[string(o.Route)]
			if s == nil {
				s = &Series{Name: string(o.Route)}
				byRoute[s.Name] = s
			}
			for len(s.Values) <= i {
				s.Values = append(s.Values, 0)
			}
			s.Values[i]++
		}
	}
	for _, name := range sortedKeys(byRoute) {
		d.out.Routes = append(d.out.Routes, *byRoute[name])
	}
	slices.SortStableFunc(d.out.Routes, func(a, b Series) int { return strings.Compare(a.Name, b.Name) })
}
