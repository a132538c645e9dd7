package api

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
)

// What the audit shows of a change beside its reason: how it was before and after. Where a
// change is asked for twice, or meets another one, the first side is what was seen before it.

// anotherSecret stands for a new secret, which nobody is shown again.
const anotherSecret = "another one"

// faqSides returns the entries that differ between two lists, by id, as they are in each; nil
// where a list has none of them.
func faqSides(before, after faq.List) (was, is any) {
	return listBut(before, after), listBut(after, before)
}

// listBut returns the entries of a list that are not, or not the same, in another.
func listBut(list, other faq.List) any {
	found := map[string]any{}
	for _, e := range list.Entries {
		i := slices.IndexFunc(other.Entries, func(o faq.Entry) bool { return o.ID == e.ID })
		if i < 0 || !sameJSON(other.Entries[i], e) {
			found[e.ID] = e
		}
	}
	if !sameJSON(list.Without, other.Without) {
		found["without"] = list.Without // the shipped ones that are not in force
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// draftSide returns what the draft holds of a document; nil: nothing.
func (a *API) draftSide(ctx context.Context, name string) any {
	text, err := a.getDocument(ctx, &getDocumentInput{Name: name, Draft: true})
	if err != nil {
		return nil
	}
	return textSide(text.Body.Text)
}

// textSide shows a document by its size and its beginning.
func textSide(text string) any {
	return map[string]any{"bytes": len(text), "text": cut(text, 500)}
}

func versionSide(v queue.KnowledgeVersion) any {
	if v.Rev == 0 {
		return nil
	}
	return map[string]any{"revision": v.Rev, "documents": v.Documents}
}

// breakerSide returns the state of a breaker; nil: no controller is known.
func (a *API) breakerSide(ctx context.Context, account string) any {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	states, err := a.deps.Vendors.States(ctx)
	if s, found := states[account]; err == nil && found {
		return s.Breaker
	}
	return nil
}

// ticketSide returns how a ticket stands.
func ticketSide(t *chat.Ticket) any { return map[string]any{"status": shown(t.Status), "lane": t.Lane} }

// ownerSide returns who has a session; nil: nothing is known of it.
func (a *API) ownerSide(ctx context.Context, tenant, session string) any {
	rec, err := a.deps.Queue.Session(ctx, tenant, session)
	if err != nil {
		return nil
	}
	return ownedBy(rec.Owner, rec.Human)
}

func ownedBy(owner, human string) any {
	side := map[string]any{"owner": owner}
	if human != "" {
		side["human"] = human
	}
	return side
}
