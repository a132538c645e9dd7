package sms

import (
	"fmt"
	"time"

	"github.com/nyaruka/phonenumbers"
)

// Country returns the ISO 3166 code of an E.164 number's country, empty where it has none.
// A number that several countries could have given is taken for the largest one's.
func Country(phone string) string {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return ""
	}
	if region := phonenumbers.GetRegionCodeForNumber(number); region != "" {
		return region
	}
	return phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
}

// Textable reports whether a number is, or may be, a mobile one, as far as its country's
// numbering plan tells. No text goes to a number at a fixed line, nor to one that costs its
// caller extra: traffic to those is what fraud with public phone fields lives on. A range that
// is newer than the library's tables counts as none.
func Textable(phone string) bool {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return false
	}
	kind := phonenumbers.GetNumberType(number)
	return kind == phonenumbers.MOBILE || kind == phonenumbers.FIXED_LINE_OR_MOBILE
}

// Quiet is the part of the day in which nobody is texted. It may pass midnight.
type Quiet struct {
	From, Until time.Duration // since midnight
	// Zone is whose clock counts for a number that tells nothing of its own.
	Zone *time.Location
}

// End returns when the quiet hours that a number is in at now are over; now itself where
// it is in none. By the clock that counts: the one of the number's area, as far as its
// digits tell; where they leave several, it is quiet while it is quiet in any.
func (q *Quiet) End(phone string, now time.Time) time.Time {
	end := now
	if q == nil {
		return end
	}
	// Past the end in one zone it may be quiet in another one yet.
	for range 2 {
		for _, zone := range q.zones(phone) {
			end = q.endIn(zone, end)
		}
	}
	return end
}

// endIn returns when the quiet hours at now are over by the clock of one zone.
func (q *Quiet) endIn(zone *time.Location, now time.Time) time.Time {
	at := now.In(zone)
	since := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
	over := q.Until < q.From // midnight
	within := since >= q.From && since < q.Until
	if over {
		within = since >= q.From || since < q.Until
	}
	if !within {
		return now
	}
	day := at.Day()
	if over && since >= q.From {
		day++
	}
	// By the clock on the wall, so that a change to summer time moves nothing.
	return time.Date(at.Year(), at.Month(), day, int(q.Until/time.Hour), int(q.Until%time.Hour/time.Minute), 0, 0, zone)
}

// maxZones bounds how many clocks one number is judged by.
const maxZones = 16

// zones returns the clocks of a number's area.
func (q *Quiet) zones(phone string) []*time.Location {
	own := []*time.Location{q.Zone}
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return own
	}
	names, err := phonenumbers.GetTimezonesForNumber(number)
	if err != nil || len(names) > maxZones {
		return own
	}
	var all []*time.Location
	for _, name := range names {
		if zone, err := time.LoadLocation(name); err == nil && name != phonenumbers.UNKNOWN_TIMEZONE {
			all = append(all, zone)
		}
	}
	if len(all) == 0 {
		return own
	}
	return all
}

// Clock reads a time of day such as "22:00".
func Clock(s string) (time.Duration, error) {
	at, err := time.Parse("15:04", s)
	if err != nil {
		return 0, fmt.Errorf("read the time of day %q: %w", s, err)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}
