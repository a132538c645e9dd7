package main

import (
	"context"
	"slices"
	"time"

	"sluice/dispatcher"
	"sluice/internal/chat"
	"sluice/internal/rules"
	"sluice/internal/sms"
)

// deferLimit is how long the engine may take to say whether a number may be texted.
const deferLimit = time.Second

// deferral says whether the full answer to a ticket may be promised by SMS, and how: its
// intent, the country of its number, the lane of the follow-ups, the caps, the quiet hours
// and the customer's own word allow it. The places of the caps are taken with the promise.
func (l *live) deferral(t *chat.Ticket) (how dispatcher.Deferral, may bool) {
	r := l.rules()
	if !deferrable(r, t) || !l.textable(r, t, time.Now()) {
		return how, false
	}
	how = dispatcher.Deferral{Wait: r.Lanes[chat.Deferred].MaxWait, Caps: l.carriers.texting(r).Caps, Leave: func() {}}
	if l.lanes != nil {
		open := false
		if how.Leave, open = l.lanes.Enter(chat.Deferred); !open {
			return how, false
		}
	}
	return how, true
}

// textable reports whether a notice to the number of a ticket could go out in time: so a
// phone field that anybody can fill in is not promised more than the caps allow.
func (l *live) textable(r *rules.Rules, t *chat.Ticket, now time.Time) bool {
	texting := l.carriers.texting(r)
	if texting.Carrier == nil {
		return false
	}
	wait := r.Lanes[chat.Deferred].MaxWait
	if end := texting.Quiet.End(t.Phone, now); end.After(now) && !end.Before(now.Add(wait)) {
		return false
	}
	if l.queue == nil {
		return true // nothing is counted here
	}
	ctx, cancel := context.WithTimeout(context.Background(), deferLimit)
	defer cancel()
	may, err := l.queue.MayText(ctx, t.Tenant, t.Phone, texting.Caps, now)
	if last := now.Add(wait); may && err == nil && last.UTC().Day() != now.UTC().Day() {
		may, err = l.queue.MayText(ctx, t.Tenant, t.Phone, texting.Caps, last)
	}
	if err != nil {
		l.log.Warn().Err(err).Str("ticket", t.ID).Msg("no promise is made: the caps of text messages cannot be read")
	}
	return may
}

// deferrable reports whether the rules let the intent and the number of a ticket wait.
func deferrable(r *rules.Rules, t *chat.Ticket) bool {
	named := func(in rules.Intent) bool { return in.Name == t.Intent }
	i := slices.IndexFunc(r.Intents, named)
	return i >= 0 && r.Intents[i].DeferSMS && slices.Contains(r.SMS.Countries, sms.Country(t.Phone)) && sms.Textable(t.Phone)
}
