package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// editTries bounds how often an edit begins again after meeting another writer.
const editTries = 5

func (a *API) putRules(ctx context.Context, in *putRulesInput) (*ruleOutput, error) {
	saw, err := in.saw()
	if err != nil {
		return nil, err
	}
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	now, err := revision(ctx, store, 0)
	if err != nil {
		return nil, err
	}
	if now.Rev != saw {
		return nil, errRevision(now.Rev)
	}
	e := queue.Audit{Action: "rules.put", Reason: in.Body.Reason}
	return a.storeRules(ctx, e, now, []byte(in.Body.Document), 0)
}

// saw returns the revision that the author of a document saw. Without one, two authors
// would undo each other's work.
func (in *putRulesInput) saw() (uint64, error) {
	match := strings.Trim(strings.TrimPrefix(strings.TrimSpace(in.Match), "W/"), `"`)
	if match == "" && in.Body.Revision == 0 {
		return 0, chat.Bad("revision", "must be given, or If-Match: the revision that the document was made from")
	}
	if match == "" {
		return in.Body.Revision, nil
	}
	rev, err := strconv.ParseUint(match, 10, 64)
	if err != nil || in.Body.Revision > 0 && rev != in.Body.Revision {
		return 0, chat.Bad("If-Match", "must be the ETag of a revision, and the same as revision")
	}
	return rev, nil
}

func errRevision(now uint64) *chat.Error {
	return &chat.Error{
		Kind: chat.Conflict, Code: codeRevision,
		Detail: fmt.Sprintf("the rules have revision %d by now: read it, and put the change into it", now),
	}
}

func (a *API) rollbackRules(ctx context.Context, in *rollbackInput) (*ruleOutput, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	old, err := revision(ctx, store, in.Body.Revision)
	if err != nil {
		return nil, err
	}
	now, err := revision(ctx, store, 0)
	if err != nil {
		return nil, err
	}
	e := queue.Audit{Action: "rules.rollback", Target: strconv.FormatUint(old.Rev, 10), Reason: in.Body.Reason}
	return a.storeRules(ctx, e, now, old.Document, old.Rev)
}

// editRules makes a new revision of the newest one, again after meeting another writer.
func (a *API) editRules(ctx context.Context, e queue.Audit, edit func(doc []byte) ([]byte, error)) (*ruleOutput, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		now, err := revision(ctx, store, 0)
		if err != nil {
			return nil, err
		}
		doc, err := edit(now.Document)
		switch {
		case errors.Is(err, rules.ErrNoVendor):
			return nil, notFound("vendor in the rules document")
		case errors.Is(err, rules.ErrLayout):
			return nil, &chat.Error{Kind: chat.Conflict, Code: codeLayout, Detail: "the document's layout does not let this be changed in place: PUT the whole document"}
		case err != nil:
			return nil, faulty(err)
		}
		out, err := a.storeRules(ctx, e, now, doc, 0)
		if problem := problemOf(err); err == nil || problem.Code != codeRevision || tries == editTries {
			return out, err
		}
	}
}

// storeRules checks a document as a whole and stores it over a revision.
func (a *API) storeRules(ctx context.Context, e queue.Audit, now queue.Revision, doc []byte, from uint64) (*ruleOutput, error) {
	if _, err := a.readRules(doc); err != nil {
		return nil, faulty(err)
	}
	by := queue.Authorship{Actor: operatorOf(ctx).actor, Reason: e.Reason, From: from}
	e = compared(e, now, doc)
	var rev uint64
	err := a.change(ctx, e, func() (err error) {
		if rev, err = a.deps.Store.Change(ctx, doc, now.Rev, by); err == nil {
			return nil
		}
		if errors.Is(err, queue.ErrLost) {
			return &chat.Error{Kind: chat.Conflict, Code: codeRevision, Detail: "somebody else has stored other rules meanwhile"}
		}
		return unavailable(err)
	})
	if err != nil {
		return nil, err
	}
	out := ruleRevision(queue.Revision{Rev: rev, At: time.Now(), Authorship: by, Size: len(doc), Document: doc})
	return &out, nil
}

// compared adds to an entry what a document changes of a revision.
func compared(e queue.Audit, now queue.Revision, doc []byte) queue.Audit {
	before, after := rules.Differences(now.Document, doc)
	before["revision"] = now.Rev
	if len(after) == 0 && len(before) == 1 {
		after["text"] = "only comments or layout"
	}
	e.Before, e.After = before, after
	return e
}

// faulty makes a problem of what is wrong with a document.
func faulty(err error) error {
	faults := rules.Faults(err)
	if len(faults) == 0 {
		return err
	}
	p := newProblem(chat.Invalid, codeInvalid, fmt.Sprintf("the document is not valid: %d faults, nothing was stored", len(faults)))
	for _, f := range faults {
		p.Errors = append(p.Errors, Fault{Field: f.Field, Detail: f.Reason, Line: f.Line, Column: f.Column})
	}
	return p
}
