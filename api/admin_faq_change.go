package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// FAQRevision is one stored list of the FAQ, in the history.
type FAQRevision struct {
	Revision uint64    `json:"revision"`
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"`
	From     uint64    `json:"from,omitempty" doc:"the revision that was brought back"`
	Size     int       `json:"size" doc:"of the list, in bytes"`
}

type faqHistoryOutput struct {
	Body struct {
		Revisions []FAQRevision `json:"revisions" nullable:"false" doc:"newest first, at most 32"`
	}
}

type faqChangeOutput struct {
	Body struct {
		Revision uint64 `json:"revision" doc:"in force everywhere when it is learnt, seconds later"`
		Entries  int    `json:"entries" doc:"in force by it"`
	}
}

type entryBody struct {
	Intent    string              `json:"intent,omitempty" doc:"the intent that it belongs to"`
	Priority  int                 `json:"priority,omitempty" doc:"of entries that fit alike the higher goes first"`
	Questions map[string][]string `json:"questions" doc:"phrasings by language, zh and en: 5 at least, 10 are better"`
	Answers   map[string]string   `json:"answers" doc:"by language, Markdown"`
	Reason    string              `json:"reason" minLength:"1" maxLength:"500"`
}

type putEntryInput struct {
	ID   string `path:"id" maxLength:"100"`
	Body entryBody
}

type dropEntryInput struct {
	ID   string `path:"id" maxLength:"100"`
	Body reasoned
}

func (a *API) registerFAQChanges(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-put-faq-entry", Method: http.MethodPut, Path: "faq/{id}", Summary: "Make or replace an entry of the FAQ",
		Description:  "The whole entry. One with a shipped entry's id answers in its place.",
		MaxBodyBytes: maxEntryBody + 2, Middlewares: huma.Middlewares{checkedUpTo[entryBody](maxEntryBody)},
	}, []int{400, 409, 413}, a.putEntry)
	manage(a, api, huma.Operation{
		OperationID: "admin-delete-faq-entry", Method: http.MethodDelete, Path: "faq/{id}", Summary: "Remove an entry of the FAQ",
		Description: "A shipped one answers no more either.", Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.dropEntry)
	manage(a, api, huma.Operation{
		OperationID: "admin-faq-history", Method: http.MethodGet, Path: "faq/history", Summary: "List the stored revisions of the FAQ",
	}, nil, a.faqHistory)
	manage(a, api, huma.Operation{
		OperationID: "admin-rollback-faq", Method: http.MethodPost, Path: "faq/rollback", Summary: "Bring an earlier list of the FAQ back",
		Description: "As a new revision.", Middlewares: huma.Middlewares{checkedAs[rollbackBody]},
	}, []int{400, 404, 409, 413}, a.rollbackFAQ)
}

func (a *API) putEntry(ctx context.Context, in *putEntryInput) (*faqChangeOutput, error) {
	b := in.Body
	e := faq.Entry{ID: in.ID, Intent: b.Intent, Priority: b.Priority, Questions: b.Questions, Answers: b.Answers}
	if err := a.checkEntry(e); err != nil {
		return nil, err
	}
	audit := queue.Audit{Action: "faq.put", Target: e.ID, Reason: b.Reason}
	return a.editFAQ(ctx, audit, 0, func(l faq.List) (faq.List, error) {
		return checkedTwins(l.Put(e), []faq.Entry{e})
	})
}

// checkedTwins returns the list, unless one of the entries that are new in it has a question
// that another entry in force has too: neither would be answered by it.
func checkedTwins(l faq.List, entries []faq.Entry) (faq.List, error) {
	all, err := l.InForce()
	if err == nil {
		err = faq.CheckTwins(all, entries)
	}
	if err != nil {
		return l, faultyFAQ(err)
	}
	return l, nil
}

// checkEntry checks an entry alone, and that the rules know its intent.
func (a *API) checkEntry(e faq.Entry) error {
	if err := e.Check(); err != nil {
		return faultyFAQ(err)
	}
	known := e.Intent == "" || slices.ContainsFunc(a.deps.Rules().Intents, func(in rules.Intent) bool { return in.Name == e.Intent })
	if !known {
		return chat.Bad("intent", "must be one of the rules' intents, is %q", e.Intent)
	}
	return nil
}

func (a *API) dropEntry(ctx context.Context, in *dropEntryInput) (*faqChangeOutput, error) {
	audit := queue.Audit{Action: "faq.delete", Target: in.ID, Reason: in.Body.Reason}
	return a.editFAQ(ctx, audit, 0, func(l faq.List) (faq.List, error) {
		l, found, err := l.Drop(in.ID)
		if err == nil && !found {
			err = notFound("entry")
		}
		return l, err
	})
}

func (a *API) faqHistory(ctx context.Context, _ *struct{}) (*faqHistoryOutput, error) {
	all, err := a.deps.Queue.FAQ().History(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &faqHistoryOutput{}
	out.Body.Revisions = make([]FAQRevision, 0, len(all))
	for _, r := range all {
		out.Body.Revisions = append(out.Body.Revisions, FAQRevision{
			Revision: r.Rev, At: r.At.UTC(), Actor: r.Actor, Reason: r.Reason, From: r.From, Size: r.Size,
		})
	}
	return out, nil
}

func (a *API) rollbackFAQ(ctx context.Context, in *rollbackInput) (*faqChangeOutput, error) {
	old, err := a.deps.Queue.FAQ().Revision(ctx, in.Body.Revision)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, notFound("revision")
	}
	if err != nil {
		return nil, unavailable(err)
	}
	back, err := faq.ReadList(old.Document)
	if err != nil {
		return nil, faultyFAQ(err)
	}
	audit := queue.Audit{Action: "faq.rollback", Target: strconv.FormatUint(old.Rev, 10), Reason: in.Body.Reason}
	return a.editFAQ(ctx, audit, old.Rev, func(faq.List) (faq.List, error) { return back, nil })
}

// editFAQ makes a new revision of the newest one, again after meeting another writer.
// from is the revision that is brought back, or 0.
func (a *API) editFAQ(ctx context.Context, e queue.Audit, from uint64, edit func(faq.List) (faq.List, error)) (*faqChangeOutput, error) {
	for tries := 1; ; tries++ {
		now, rev, err := a.faqList(ctx)
		if err != nil {
			return nil, err
		}
		next, err := edit(now)
		if err != nil {
			return nil, err
		}
		entries, err := next.InForce()
		if err != nil {
			return nil, faultyFAQ(err)
		}
		out := &faqChangeOutput{}
		out.Body.Entries = len(entries)
		e.Before, e.After = faqSides(now, next)
		out.Body.Revision, err = a.storeFAQ(ctx, e, next, rev, from)
		if err == nil {
			return out, nil
		}
		if problemOf(err).Code != codeRevision || tries == editTries {
			return nil, err
		}
	}
}

// storeFAQ stores a list over a revision.
func (a *API) storeFAQ(ctx context.Context, e queue.Audit, l faq.List, over, from uint64) (rev uint64, err error) {
	doc, err := l.Document()
	if err != nil {
		return 0, err
	}
	by := queue.Authorship{Actor: operatorOf(ctx).actor, Reason: e.Reason, From: from}
	err = a.change(ctx, e, func() (err error) {
		rev, err = a.deps.Queue.FAQ().Change(ctx, doc, over, by)
		switch {
		case errors.Is(err, queue.ErrLost):
			return &chat.Error{Kind: chat.Conflict, Code: codeRevision, Detail: "somebody else has changed the FAQ meanwhile"}
		case errors.Is(err, queue.ErrLarge):
			return &chat.Error{Kind: chat.Invalid, Code: codeTooLarge, Detail: "the whole FAQ would be larger than the store keeps", Err: err}
		}
		return orUnavailable(err)
	})
	return rev, err
}

// faultyFAQ makes a problem of what is wrong with entries.
func faultyFAQ(err error) error {
	p := newProblem(chat.Invalid, codeInvalid, "the entries are not valid, nothing was stored: "+withoutCause(err, faq.ErrBounds))
	faults := faq.Faults(err)
	if len(faults) > 1 {
		p.Detail = fmt.Sprintf("the entries are not valid: %d faults, nothing was stored", len(faults))
	}
	for _, f := range faults {
		field := f.Field
		if field == "" {
			field = "document"
		}
		reason := f.Reason
		if f.File != "" && f.Entry != "" {
			reason = fmt.Sprintf("entry %q: %s", f.Entry, reason)
		}
		p.Errors = append(p.Errors, Fault{Field: field, Detail: reason, Line: f.Line})
	}
	if len(faults) == 0 && !errors.Is(err, faq.ErrBounds) {
		return err
	}
	return p
}
