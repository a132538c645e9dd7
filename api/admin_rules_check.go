package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

type checkBody struct {
	Document string            `json:"document" minLength:"1" pattern:"\\S" doc:"the whole YAML document"`
	Numbers  map[string]string `json:"numbers,omitempty" doc:"values to put into it first, by path; those of the answer's numbers may be given"`
}

type checkInput struct{ Body checkBody }

// RulesCheck is what a document would come to.
type RulesCheck struct {
	Revision uint64            `json:"revision" doc:"the newest that is stored"`
	Document string            `json:"document,omitempty" doc:"with the numbers put in; left out where none were given, or one has a fault"`
	Faults   []Fault           `json:"faults" nullable:"false" doc:"what is wrong, in the order of the document; empty: it could be stored"`
	Numbers  map[string]string `json:"numbers,omitempty" doc:"the values that are changed most, by path; of a document without faults"`
	Intents  []IntentTrial     `json:"intents,omitempty" doc:"what intents that are new, or have other examples than in force, are confused with; at most five, worked out in the background"`
}

type checkOutput struct{ Body RulesCheck }

func (a *API) registerRulesCheck(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-check-rules", Method: http.MethodPost, Path: "rules/check", Summary: "Check a rules document, and store nothing",
		Description:  "Says what `PUT rules` would say of it. With `numbers` it puts those into the text first; all else keeps its text, comments included.",
		MaxBodyBytes: maxRulesBody + 2, Middlewares: huma.Middlewares{checkedUpTo[checkBody](maxRulesBody)},
	}, []int{400, 409, 413}, a.checkRules)
}

func (a *API) checkRules(ctx context.Context, in *checkInput) (*checkOutput, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	now, err := revision(ctx, store, 0)
	if err != nil {
		return nil, err
	}
	out := &checkOutput{RulesCheck{Revision: now.Rev, Faults: []Fault{}}}
	doc := []byte(in.Body.Document)
	if len(in.Body.Numbers) > 0 {
		doc, err = rules.WithNumbers(doc, in.Body.Numbers)
		if errors.Is(err, rules.ErrLayout) {
			return nil, &chat.Error{Kind: chat.Conflict, Code: codeLayout, Detail: "the document's layout does not let this be changed in place: write it into the text"}
		}
	}
	var next *rules.Rules
	if err == nil {
		next, err = a.readRules(doc)
	}
	if err != nil {
		var p *Problem
		if !errors.As(faulty(err), &p) {
			return nil, err
		}
		out.Body.Faults = p.Errors
		return out, nil
	}
	out.Body.Numbers = next.Numbers()
	out.Body.Intents = a.tried(operatorOf(ctx).actor, next)
	if len(in.Body.Numbers) > 0 {
		out.Body.Document = string(doc)
	}
	return out, nil
}

// readRules reads a document that could be put into force here.
func (a *API) readRules(doc []byte) (*rules.Rules, error) {
	next, err := rules.Parse("rules", doc)
	if err != nil {
		return nil, err
	}
	if a.deps.Unfit != nil {
		if field, reason := a.deps.Unfit(a.deps.Rules(), next); field != "" {
			return nil, rules.Blame("rules", doc, field, reason)
		}
	}
	return next, nil
}
