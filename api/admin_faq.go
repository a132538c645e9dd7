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

// maxEntryBody holds the largest entry that is worth writing; maxFAQBody a whole list.
const (
	maxEntryBody = 512 << 10
	maxFAQBody   = 16 << 20
)

// FAQEntry is an entry as operators see it.
type FAQEntry struct {
	faq.Entry
	Own  bool `json:"own" doc:"an operator's; else it is shipped"`
	Thin bool `json:"thin" doc:"it has fewer than 5 phrasings in a language: it will hardly be found certain enough to answer"`
}

// FAQCalibration is what the FAQ may be expected to do.
type FAQCalibration struct {
	Revision uint64 `json:"revision" doc:"of the list that answers in this process"`
	Learnt   bool   `json:"learnt" doc:"false: only known phrasings are answered yet"`
	faq.Calibration
}

type faqInput struct {
	After string `query:"after" doc:"only entries after this id"`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

type faqOutput struct {
	Body struct {
		Revision    uint64          `json:"revision" doc:"of the list; 0: nobody has changed it"`
		Shipped     bool            `json:"shipped" doc:"the shipped entries are in force too"`
		Total       int             `json:"total"`
		Entries     []FAQEntry      `json:"entries" nullable:"false" doc:"by id"`
		Next        string          `json:"next,omitempty" doc:"ask again with after; left out: there are no more"`
		Calibration *FAQCalibration `json:"calibration,omitempty" doc:"measured on the entries; left out: nothing answers yet"`
	}
}

type tryInput struct {
	Question string `query:"q" required:"true" minLength:"1" maxLength:"10000"`
	Language string `query:"lang" enum:"zh,en" doc:"left out: that of the question"`
}

// FAQTrial is what the FAQ makes of a question.
type FAQTrial struct {
	Tier      faq.Tier      `json:"tier" enum:"answer,offer,pass"`
	Entry     string        `json:"entry,omitempty" doc:"that comes nearest"`
	Certainty float64       `json:"certainty" doc:"probability that it answers; 1 for a known phrasing"`
	Known     bool          `json:"known" doc:"the question is a phrasing of the entry"`
	Answer    string        `json:"answer,omitempty" doc:"of the entry, given only in tier answer"`
	Nearest   []chat.Choice `json:"nearest" nullable:"false" doc:"what is offered in tier offer"`
	Revision  uint64        `json:"revision" doc:"of the list that answered"`
}

type tryOutput struct{ Body FAQTrial }

func (a *API) registerFAQ(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-faq", Method: http.MethodGet, Path: "faq", Summary: "List the FAQ's entries and what they may be expected to do",
	}, []int{400}, a.listFAQ)
	manage(a, api, huma.Operation{
		OperationID: "admin-try-faq", Method: http.MethodGet, Path: "faq/try", Summary: "Ask the FAQ a question, without a ticket",
	}, []int{400}, a.tryFAQ)
	a.registerFAQChanges(api)
	a.registerFAQImport(api)
	a.registerMisses(api)
	a.registerDrafts(api)
}

// faqList reads the newest list, and its revision; 0: nobody has changed it.
func (a *API) faqList(ctx context.Context) (faq.List, uint64, error) {
	found, err := a.deps.Queue.FAQ().Current(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		return faq.FirstList(), 0, nil
	}
	if err != nil {
		return faq.List{}, 0, unavailable(err)
	}
	list, err := faq.ReadList(found.Document)
	return list, found.Rev, err
}

func (a *API) listFAQ(ctx context.Context, in *faqInput) (*faqOutput, error) {
	list, rev, err := a.faqList(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := list.InForce()
	if err != nil {
		return nil, err
	}
	thin := faq.Thin(entries)
	slices.SortFunc(entries, func(a, b faq.Entry) int { return strings.Compare(a.ID, b.ID) })
	out := &faqOutput{}
	body := &out.Body
	body.Revision, body.Shipped, body.Total, body.Entries = rev, list.Shipped, len(entries), []FAQEntry{}
	for _, e := range entries {
		if e.ID <= in.After {
			continue
		}
		if len(body.Entries) == in.Limit {
			body.Next = body.Entries[in.Limit-1].ID
			break
		}
		body.Entries = append(body.Entries, FAQEntry{Entry: e, Own: list.Own(e.ID), Thin: slices.Contains(thin, e.ID)})
	}
	if base, of := a.faqInForce(); base != nil {
		body.Calibration = &FAQCalibration{Revision: of, Learnt: base.Learnt(), Calibration: base.Calibration()}
		if body.Calibration.Thin == nil {
			body.Calibration.Thin = []string{}
		}
	}
	return out, nil
}

// faqInForce returns what answers here; nil: nothing does.
func (a *API) faqInForce() (*faq.Base, uint64) {
	if a.deps.FAQ == nil {
		return nil, 0
	}
	return a.deps.FAQ()
}

var errNoFAQ = errors.New("nothing of the FAQ answers in this process yet")

func (a *API) tryFAQ(_ context.Context, in *tryInput) (*tryOutput, error) {
	if err := chat.CheckMessage("q", in.Question); err != nil {
		return nil, err
	}
	base, rev := a.faqInForce()
	if base == nil {
		return nil, &chat.Error{Kind: chat.Transient, Code: codeUnavailable, RetryAfter: time.Second, Err: errNoFAQ,
			Detail: "the FAQ has no entries, or they are not learnt yet"}
	}
	if in.Language == "" {
		in.Language = chat.Language(in.Question, "")
	}
	m := base.Match(in.Question, in.Language)
	out := &tryOutput{FAQTrial{Tier: m.Tier, Entry: m.Entry, Certainty: m.P, Known: m.Known, Nearest: []chat.Choice{}, Revision: rev}}
	if m.Tier == faq.Answer {
		out.Body.Answer = m.Answer
	}
	for _, option := range m.Nearest {
		out.Body.Nearest = append(out.Body.Nearest, chat.Choice{ID: option.Entry, Text: option.Question})
	}
	return out, nil
}
