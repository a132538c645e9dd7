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
	"sluice/internal/knowledge"
	"sluice/internal/queue"
)

// Knowledge is what this process answers from.
type Knowledge interface {
	// Search returns the passages that an answer to a question would rest on, and the least
	// that one must cover.
	Search(question, language string) (hits []knowledge.Hit, threshold float64)
	// InForce returns the published revision that is answered from, 0 for none, its version,
	// and why a newer one is not.
	InForce() (rev uint64, version string, err error)
}

// knowledgePage is the most documents of one answer, and how many there are if nobody says.
const knowledgePage = 1000

// KnowledgeState is what is published, what is answered from, and what the draft changes.
type KnowledgeState struct {
	KnowledgeRevision
	InForce   KnowledgeInForce    `json:"in_force"`
	Draft     []DocumentChange    `json:"draft" nullable:"false" doc:"what the next publication changes, by name; the first 1,000"`
	Changes   int                 `json:"changes" doc:"how many there are in all"`
	Published []PublishedDocument `json:"published" nullable:"false" doc:"by name"`
	Next      string              `json:"next,omitempty" doc:"ask again with after; left out: there are no more"`
}

// KnowledgeInForce is what the node that was asked answers from.
type KnowledgeInForce struct {
	Revision uint64 `json:"revision" doc:"0: none"`
	Version  string `json:"version,omitempty" doc:"the same for the same documents"`
	Fault    string `json:"fault,omitempty" doc:"why a newer revision is not in force"`
}

// PublishedDocument is one of the newest version.
type PublishedDocument struct {
	Name   string `json:"name"`
	Size   int    `json:"size" doc:"in bytes"`
	Origin string `json:"origin,omitempty" doc:"shipped, or folder: the rules' folder; left out: operators"`
}

// DocumentChange is a change of the draft.
type DocumentChange struct {
	Name   string    `json:"name"`
	Change string    `json:"change" enum:"added,changed,removed"`
	Size   int       `json:"size,omitempty"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
}

// KnowledgeRevision is a published version, or its entry in the history.
type KnowledgeRevision struct {
	Revision  uint64    `json:"revision" doc:"0: nothing was published yet"`
	At        time.Time `json:"at"`
	Actor     string    `json:"actor"`
	Reason    string    `json:"reason"`
	From      uint64    `json:"from,omitempty" doc:"the revision that was brought back"`
	Documents int       `json:"documents"`
	Size      int64     `json:"size" doc:"of all texts, in bytes"`
}

type knowledgeInput struct {
	After string `query:"after" doc:"only documents after this name"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
}

type knowledgeOutput struct{ Body KnowledgeState }

type knowledgeHistoryOutput struct {
	Body struct {
		Revisions []KnowledgeRevision `json:"revisions" nullable:"false" doc:"newest first, at most 20"`
	}
}

type searchInput struct {
	Question string `query:"q" required:"true" minLength:"1" maxLength:"10000"`
	Language string `query:"lang" enum:"zh,en" doc:"left out: of the question's script"`
}

// Found is a passage that would be answered from.
type Found struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	URL      string   `json:"url,omitempty"`
	Headings []string `json:"headings" nullable:"false"`
	Text     string   `json:"text"`
	Covered  float64  `json:"covered" doc:"part of the question that it speaks of, 0 to 1"`
	Enough   bool     `json:"enough" doc:"it covers the threshold of the rules"`
}

type searchOutput struct {
	Body struct {
		Passages  []Found `json:"passages" nullable:"false" doc:"the best first"`
		Threshold float64 `json:"threshold"`
	}
}

func (a *API) registerKnowledge(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-knowledge", Method: http.MethodGet, Path: "knowledge", Summary: "What is published, in force and drafted",
	}, []int{400}, a.knowledge)
	manage(a, api, huma.Operation{
		OperationID: "admin-knowledge-history", Method: http.MethodGet, Path: "knowledge/history", Summary: "List the published revisions",
	}, nil, a.knowledgeHistory)
	manage(a, api, huma.Operation{
		OperationID: "admin-search-knowledge", Method: http.MethodGet, Path: "knowledge/search", Summary: "What would be found for a question",
	}, []int{400}, a.searchKnowledge)
	a.registerKnowledgeChanges(api)
	a.registerImport(api)
}

// published returns the newest version; the zero one before the first.
func (a *API) published(ctx context.Context) (queue.KnowledgeVersion, []queue.Document, error) {
	v, err := a.deps.Queue.Knowledge(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		return v, nil, nil
	}
	if err != nil {
		return v, nil, unavailable(err)
	}
	documents, err := a.deps.Queue.Documents(ctx, v)
	return v, documents, orUnavailable(err)
}

func (a *API) knowledge(ctx context.Context, in *knowledgeInput) (*knowledgeOutput, error) {
	v, documents, err := a.published(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := a.deps.Queue.Draft(ctx, v)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &knowledgeOutput{KnowledgeState{KnowledgeRevision: knowledgeRevision(v), Draft: []DocumentChange{}, Published: []PublishedDocument{}}}
	for _, c := range changes {
		if change := compare(documents, c); change.Change != "" {
			if out.Body.Changes++; out.Body.Changes <= knowledgePage {
				out.Body.Draft = append(out.Body.Draft, change)
			}
		}
	}
	from, found := slices.BinarySearchFunc(documents, in.After, func(d queue.Document, name string) int { return strings.Compare(d.Name, name) })
	if found {
		from++
	}
	to := min(len(documents), from+in.Limit)
	for _, d := range documents[from:to] {
		out.Body.Published = append(out.Body.Published, PublishedDocument{Name: d.Name, Size: d.Size, Origin: d.Origin})
	}
	if to < len(documents) {
		out.Body.Next = documents[to-1].Name
	}
	if a.deps.Knowledge != nil {
		rev, version, fault := a.deps.Knowledge.InForce()
		out.Body.InForce = KnowledgeInForce{Revision: rev, Version: version}
		if fault != nil {
			out.Body.InForce.Fault = fault.Error()
		}
	}
	return out, nil
}

// compare says what a change does to the published documents, which are sorted by name;
// without a kind it does nothing.
func compare(documents []queue.Document, c queue.Change) DocumentChange {
	change := DocumentChange{Name: c.Name, Size: c.Size, At: c.At, Actor: c.Actor}
	i, there := slices.BinarySearchFunc(documents, c.Name, func(d queue.Document, name string) int { return strings.Compare(d.Name, name) })
	switch {
	case c.Removed && there:
		change.Change, change.Size = "removed", 0
	case !c.Removed && !there:
		change.Change = "added"
	case !c.Removed && documents[i].Hash != c.Hash:
		change.Change = "changed"
	}
	return change
}

func knowledgeRevision(v queue.KnowledgeVersion) KnowledgeRevision {
	return KnowledgeRevision{
		Revision: v.Rev, At: v.At, Actor: v.Actor, Reason: v.Reason, From: v.From, Documents: v.Documents, Size: v.Size,
	}
}

func (a *API) knowledgeHistory(ctx context.Context, _ *struct{}) (*knowledgeHistoryOutput, error) {
	all, err := a.deps.Queue.KnowledgeHistory(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &knowledgeHistoryOutput{}
	out.Body.Revisions = make([]KnowledgeRevision, 0, len(all))
	for _, v := range all {
		out.Body.Revisions = append(out.Body.Revisions, knowledgeRevision(v))
	}
	return out, nil
}

var errNoKnowledge = errors.New("this process answers from no documents")

func (a *API) searchKnowledge(_ context.Context, in *searchInput) (*searchOutput, error) {
	if a.deps.Knowledge == nil {
		return nil, unavailable(errNoKnowledge)
	}
	language := in.Language
	if language == "" {
		language = chat.Language(in.Question, "")
	}
	hits, threshold := a.deps.Knowledge.Search(in.Question, language)
	out := &searchOutput{}
	out.Body.Passages, out.Body.Threshold = []Found{}, threshold
	for _, h := range hits {
		out.Body.Passages = append(out.Body.Passages, Found{
			Name: h.Document, Title: h.Title(), URL: h.URL, Headings: append([]string{}, h.Headings...), Text: h.Text,
			Covered: h.Covered, Enough: h.Covered >= threshold,
		})
	}
	return out, nil
}
