package api

import "sluice/internal/chat"

// understand puts into a ticket what its message says of itself: intent, urgency, what it
// names, mood, and the language of the reply; that is empty where neither the message nor
// the caller's locale tells.
func (in *Intake) understand(t *chat.Ticket, locale string) {
	t.Intent, t.Urgent = in.classify(t.Message)
	if in.read != nil {
		r := in.read(t.Message, locale)
		t.Entities, t.Mood, t.Language = r.Entities, r.Mood, r.Language
	}
	if t.Language == "" { // nobody looked, or not in time
		t.Language = chat.Spoken(t.Message, locale)
	}
}

// follow puts a ticket into its session, whose last message is known; the zero event: it
// is the first one. A message that tells no language is answered in that of the last one,
// else in its tenant's.
func (in *Intake) follow(t *chat.Ticket, last chat.Event) {
	t.Turn = last.Turn + 1
	for _, language := range []string{last.Locale, in.rules().Tenants[t.Tenant].Language, chat.English} {
		if t.Language == "" {
			t.Language = language
		}
	}
}
