package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
)

type draftOutput struct{ Body faq.Draft }

type draftsOutput struct {
	Body struct {
		Drafts faq.Drafts `json:"drafts" nullable:"false" doc:"at most 20, by the time of their wish"`
	}
}

type acceptBody struct {
	Phrasings map[string][]string `json:"phrasings" doc:"by language: those that are to be phrasings of the entry, as they are or changed"`
	Reason    string              `json:"reason" minLength:"1" maxLength:"500"`
}

type acceptInput struct {
	ID   string `path:"id" maxLength:"100"`
	Body acceptBody
}

func (a *API) registerDrafts(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-faq-drafts", Method: http.MethodGet, Path: "faq/drafts", Summary: "List the drafts of further phrasings",
	}, nil, a.listDrafts)
	manage(a, api, huma.Operation{
		OperationID: "admin-draft-faq-entry", Method: http.MethodPost, Path: "faq/{id}/draft", Summary: "Have a vendor write further phrasings of an entry",
		Description: "Up to 30 in each language of the entry, as work of a batch, and only while the load level is 0. They answer nothing before " +
			"they are accepted. Costs one call for each language.",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.wantDraft)
	manage(a, api, huma.Operation{
		OperationID: "admin-drop-faq-draft", Method: http.MethodDelete, Path: "faq/{id}/draft", Summary: "Drop a draft",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.dropDraft)
	manage(a, api, huma.Operation{
		OperationID: "admin-accept-faq-draft", Method: http.MethodPost, Path: "faq/{id}/accept", Summary: "Make phrasings of what was drafted",
		Description:  "The draft is dropped, with what is not named.",
		MaxBodyBytes: maxEntryBody + 2, Middlewares: huma.Middlewares{checkedUpTo[acceptBody](maxEntryBody)},
	}, []int{400, 404, 409, 413}, a.acceptDraft)
}

func (a *API) drafts(ctx context.Context) (faq.Drafts, error) {
	stored, err := a.deps.Queue.FAQ().Note(ctx, queue.FAQDrafts)
	if err != nil {
		return nil, unavailable(err)
	}
	return faq.ReadDrafts(stored)
}

func (a *API) listDrafts(ctx context.Context, _ *struct{}) (*draftsOutput, error) {
	all, err := a.drafts(ctx)
	out := &draftsOutput{}
	out.Body.Drafts = append(faq.Drafts{}, all...)
	return out, err
}

// faqEntry finds an entry in force.
func faqEntry(l faq.List, id string) (faq.Entry, error) {
	entries, err := l.InForce()
	if err != nil {
		return faq.Entry{}, err
	}
	at := slices.IndexFunc(entries, func(e faq.Entry) bool { return e.ID == id })
	if at < 0 {
		return faq.Entry{}, notFound("entry")
	}
	return entries[at], nil
}

func (a *API) wantDraft(ctx context.Context, in *dropEntryInput) (*draftOutput, error) {
	list, _, err := a.faqList(ctx)
	if err != nil {
		return nil, err
	}
	e, err := faqEntry(list, in.ID)
	if err != nil {
		return nil, err
	}
	if e.DraftRoom(chat.Chinese)+e.DraftRoom(chat.English) == 0 {
		return nil, &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "the entry has 30 phrasings in each of its languages"}
	}
	one := faq.Draft{Entry: e.ID, State: faq.DraftWanted, At: time.Now().UTC(), Actor: operatorOf(ctx).actor}
	err = a.change(ctx, queue.Audit{Action: "faq.draft", Target: e.ID, Reason: in.Body.Reason}, func() error {
		return a.changeDrafts(ctx, func(all faq.Drafts) (faq.Drafts, error) {
			if before, found := all.Find(e.ID); found && before.State == faq.DraftWorking {
				one = before // it is on its way
			}
			return all.Put(one)
		})
	})
	return &draftOutput{one}, err
}

func (a *API) changeDrafts(ctx context.Context, change func(faq.Drafts) (faq.Drafts, error)) error {
	err := a.deps.Queue.FAQ().ChangeNote(ctx, queue.FAQDrafts, func(stored []byte) ([]byte, error) {
		all, err := faq.ReadDrafts(stored)
		if err == nil {
			all, err = change(all)
		}
		if err != nil {
			return nil, err
		}
		return all.Document()
	})
	switch {
	case errors.Is(err, faq.ErrManyDrafts):
		return &chat.Error{Kind: chat.Conflict, Code: codeExists, Detail: "there are 20 drafts: accept or drop some first"}
	case errors.Is(err, queue.ErrLost):
		return lost(err, codeRevision, "the drafts change too fast: try again")
	}
	return orUnavailable(err)
}

func (a *API) dropDraft(ctx context.Context, in *dropEntryInput) (*struct{}, error) {
	all, err := a.drafts(ctx)
	if err != nil {
		return nil, err
	}
	if _, found := all.Find(in.ID); !found {
		return nil, notFound("draft")
	}
	return nil, a.change(ctx, queue.Audit{Action: "faq.draft.delete", Target: in.ID, Reason: in.Body.Reason}, func() error {
		return a.changeDrafts(ctx, func(all faq.Drafts) (faq.Drafts, error) { return all.Drop(in.ID), nil })
	})
}

func (a *API) acceptDraft(ctx context.Context, in *acceptInput) (*faqChangeOutput, error) {
	audit := queue.Audit{Action: "faq.accept", Target: in.ID, Reason: in.Body.Reason}
	out, err := a.editFAQ(ctx, audit, 0, func(l faq.List) (faq.List, error) {
		e, err := faqEntry(l, in.ID)
		if err != nil {
			return l, err
		}
		e = e.Clone()
		for language, all := range in.Body.Phrasings {
			for _, q := range all {
				if q = strings.TrimSpace(q); !slices.Contains(e.Questions[language], q) {
					e.Questions[language] = append(e.Questions[language], q)
				}
			}
		}
		if err := a.checkEntry(e); err != nil {
			return l, err
		}
		return checkedTwins(l.Put(e), []faq.Entry{e})
	})
	if err != nil {
		return nil, err
	}
	// A draft that stays after all can be dropped or accepted again: nothing is there twice.
	if err := a.changeDrafts(ctx, func(all faq.Drafts) (faq.Drafts, error) { return all.Drop(in.ID), nil }); err != nil {
		a.deps.Log.Warn().Err(err).Str("stage", "api").Msg("an accepted draft stays listed")
	}
	return out, nil
}
