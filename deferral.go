package main

import (
	"slices"
	"time"

	"github.com/nyaruka/phonenumbers"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// deferral says whether the full answer to a ticket may be promised by SMS, and within
// which time: its intent, the country of its number and the lane of the follow-ups allow it.
// leave is called once the follow-up is in its lane.
func (l *live) deferral(t *chat.Ticket) (wait time.Duration, leave func(), may bool) {
	r := l.rules()
	if !deferrable(r, t) {
		return 0, nil, false
	}
	leave = func() {}
	if l.lanes != nil {
		open := false
		if leave, open = l.lanes.Enter(chat.Deferred); !open {
			return 0, nil, false
		}
	}
	return r.Lanes[chat.Deferred].MaxWait, leave, true
}

// deferrable reports whether the rules let the intent and the number of a ticket wait.
func deferrable(r *rules.Rules, t *chat.Ticket) bool {
	named := func(in rules.Intent) bool { return in.Name == t.Intent }
	i := slices.IndexFunc(r.Intents, named)
	return i >= 0 && r.Intents[i].DeferSMS && slices.Contains(r.SMS.Countries, country(t.Phone))
}

// country returns the ISO 3166 code of an E.164 number's country, empty where it has none.
// A number that several countries could have given is taken for the largest one's.
func country(phone string) string {
	number, err := phonenumbers.Parse(phone, "")
	if err != nil {
		return ""
	}
	if region := phonenumbers.GetRegionCodeForNumber(number); region != "" {
		return region
	}
	return phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
}
