package api

import (
	"testing"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

func TestATicketCarriesWhatItsMessageSays(t *testing.T) {
	t.Parallel()
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) {
		d.Read = func(text, locale string) chat.Reading {
			if text == "lost" {
				return chat.Reading{} // nothing came in time
			}
			return chat.Reading{
				Entities: []chat.Entity{{Kind: chat.EntityOrder, Value: "MH2611280012", Start: 6, End: 18}},
				Mood:     chat.MoodWorried, Language: chat.Spoken(text, locale),
			}
		}
	})
	for text, language := range map[string]string{"订单MH2611280012": chat.Chinese, "lost": chat.English} {
		a := f.call("POST", "/v1/tickets", f.demo.Secret, map[string]any{"message": text})
		s, err := f.queue.Ticket(t.Context(), a.text("ticket_id"))
		if err != nil || s.Language != language || (len(s.Entities) == 1) != (text != "lost") || (s.Mood == chat.MoodWorried) != (text != "lost") {
			t.Errorf("%q: %v, %s %+v %s", text, err, s.Language, s.Entities, s.Mood)
		}
		if shown := f.call("GET", "/v1/tickets/"+s.ID, f.demo.Secret, nil); shown.json["entities"] != nil || shown.json["mood"] != nil {
			t.Errorf("callers see %s", shown.raw)
		}
	}
}

func TestAReplysLanguageFollowsTheTextThenTheLocaleThenTheSession(t *testing.T) {
	t.Parallel()
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) {
		live := *d.Rules()
		live.Tenants = map[string]rules.Allowance{"shop": {Language: chat.Chinese}}
		d.Rules = func() *rules.Rules { return &live }
	})
	for i, c := range []struct{ key, session, text, locale, want string }{
		{f.demo.Secret, "s1", "MH2611280012", "", chat.English}, // nobody says
		{f.demo.Secret, "s1", "我的订单呢", "", chat.Chinese},
		{f.demo.Secret, "s1", "MH2611280012 ok?", "", chat.Chinese}, // the session
		{f.demo.Secret, "s1", "13800138000", "en-GB", chat.English}, // the locale
		{f.demo.Secret, "s1", "😀", "", chat.English},
		{f.demo.Secret, "s2", "12345", "zh-Hant-TW", chat.Chinese},
		{f.shop.Secret, "s3", "12345", "", chat.Chinese}, // the tenant
		{f.shop.Secret, "s3", "Where is it?", "", chat.English},
		{f.shop.Secret, "", "12345", "", chat.Chinese},
	} {
		body := map[string]any{"message": c.text}
		if c.session != "" {
			body["session_id"] = c.session
		}
		if c.locale != "" {
			body["locale"] = c.locale
		}
		a := f.call("POST", "/v1/tickets", c.key, body)
		s, err := f.queue.Ticket(t.Context(), a.text("ticket_id"))
		if err != nil || s.Language != c.want {
			t.Errorf("%d: %q is answered in %s, want %s, %v", i, c.text, s.Language, c.want, err)
		}
		if want := map[string]int{"s1": i + 1, "s2": 1, "s3": i - 5, "": 1}[c.session]; s.Turn != want {
			t.Errorf("%d: turn %d, want %d", i, s.Turn, want)
		}
	}
}
