package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
)

type missesInput struct {
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type missesOutput struct {
	Body struct {
		Misses []faq.Miss `json:"misses" nullable:"false" doc:"the most frequent first"`
		Total  int        `json:"total" doc:"at most 1,000"`
	}
}

type missBody struct {
	Entry    string            `json:"entry" minLength:"1" maxLength:"100" doc:"id: of an entry that gets one more phrasing, or of a new one"`
	Question string            `json:"question,omitempty" maxLength:"500" doc:"the phrasing. Left out: as it was missed"`
	Answers  map[string]string `json:"answers,omitempty" doc:"by language; needed for a new entry"`
	Intent   string            `json:"intent,omitempty" doc:"of a new entry"`
	Reason   string            `json:"reason" minLength:"1" maxLength:"500"`
}

type missInput struct {
	Key  string `path:"key" maxLength:"16"`
	Body missBody
}

type dropMissInput struct {
	Key  string `path:"key" maxLength:"16"`
	Body reasoned
}

func (a *API) registerMisses(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-faq-misses", Method: http.MethodGet, Path: "faq/misses", Summary: "List the questions that the FAQ could not answer",
		Description: "Those that were asked of it, masked, of all processes, half a minute late.",
	}, []int{400}, a.listMisses)
	manage(a, api, huma.Operation{
		OperationID: "admin-faq-miss-entry", Method: http.MethodPost, Path: "faq/misses/{key}/entry", Summary: "Make an entry of a missed question, or a phrasing of one",
		Middlewares: huma.Middlewares{checkedAs[missBody]},
	}, []int{400, 404, 409, 413}, a.enterMiss)
	manage(a, api, huma.Operation{
		OperationID: "admin-delete-faq-miss", Method: http.MethodDelete, Path: "faq/misses/{key}", Summary: "Take a missed question off the list",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.dropMiss)
}

func (a *API) misses(ctx context.Context) (*faq.Misses, error) {
	stored, err := a.deps.Queue.FAQ().Note(ctx, queue.FAQMissed)
	if err != nil {
		return nil, unavailable(err)
	}
	return faq.ReadMisses(stored)
}

func (a *API) listMisses(ctx context.Context, in *missesInput) (*missesOutput, error) {
	all, err := a.misses(ctx)
	if err != nil {
		return nil, err
	}
	out := &missesOutput{}
	out.Body.Misses, out.Body.Total = all.List(in.Limit), len(all.List(faq.MaxMisses))
	return out, nil
}

// miss reads a missed question.
func (a *API) miss(ctx context.Context, key string) (faq.Miss, error) {
	all, err := a.misses(ctx)
	if err != nil {
		return faq.Miss{}, err
	}
	one, found := all.Find(key)
	if !found {
		return faq.Miss{}, notFound("missed question")
	}
	return one, nil
}

func (a *API) enterMiss(ctx context.Context, in *missInput) (*faqChangeOutput, error) {
	one, err := a.miss(ctx, in.Key)
	if err != nil {
		return nil, err
	}
	question := one.Text
	if in.Body.Question != "" {
		question = in.Body.Question
	}
	audit := queue.Audit{Action: "faq.miss", Target: in.Body.Entry, Reason: in.Body.Reason}
	out, err := a.editFAQ(ctx, audit, 0, func(l faq.List) (faq.List, error) {
		e, err := entryOf(l, in.Body)
		if err != nil {
			return l, err
		}
		language := chat.Language(question, one.Language)
		if !slices.Contains(e.Questions[language], question) {
			e.Questions[language] = append(e.Questions[language], question)
		}
		if err := a.checkEntry(e); err != nil {
			return l, err
		}
		return checkedTwins(l.Put(e), []faq.Entry{e})
	})
	if err != nil {
		return nil, err
	}
	// Should this fail, the miss is listed until the entry answers: each process takes off
	// what has an entry.
	if err := a.settleMiss(ctx, in.Key); err != nil {
		a.deps.Log.Warn().Err(err).Str("stage", "api").Msg("a missed question that is an entry now stays listed")
	}
	return out, nil
}

// entryOf returns the entry of the list that gets a phrasing, or the new one.
func entryOf(l faq.List, b missBody) (faq.Entry, error) {
	entries, err := l.InForce()
	if err != nil {
		return faq.Entry{}, faultyFAQ(err)
	}
	e := faq.Entry{ID: b.Entry, Intent: b.Intent, Questions: map[string][]string{}, Answers: map[string]string{}}
	at := slices.IndexFunc(entries, func(e faq.Entry) bool { return e.ID == b.Entry })
	switch {
	case at >= 0:
		e = entries[at].Clone()
	case len(b.Answers) == 0:
		return e, chat.Bad("answers", "must be given for a new entry: there is none with the id %q", b.Entry)
	}
	maps.Copy(e.Answers, b.Answers)
	return e, nil
}

func (a *API) dropMiss(ctx context.Context, in *dropMissInput) (*struct{}, error) {
	if _, err := a.miss(ctx, in.Key); err != nil {
		return nil, err
	}
	return nil, a.change(ctx, queue.Audit{Action: "faq.miss.delete", Target: in.Key, Reason: in.Body.Reason}, func() error {
		return a.settleMiss(ctx, in.Key)
	})
}

func (a *API) settleMiss(ctx context.Context, key string) error {
	err := a.deps.Queue.FAQ().ChangeNote(ctx, queue.FAQMissed, func(stored []byte) ([]byte, error) {
		all, err := faq.ReadMisses(stored)
		if err != nil {
			return nil, err
		}
		all.Settle(key)
		return all.Document()
	})
	if errors.Is(err, queue.ErrLost) {
		return lost(err, codeRevision, "the list of missed questions changes too fast: try again")
	}
	return orUnavailable(err)
}
