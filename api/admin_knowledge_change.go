package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/queue"
)

// codeUnchanged says that a draft has nothing to publish.
const codeUnchanged = "unchanged"

// maxDocumentBody holds the largest document with each of its characters escaped.
const maxDocumentBody = 3*knowledge.MaxDocument + maxBody

type documentBody struct {
	Text   string `json:"text" minLength:"1" doc:"the whole document, up to 1 MiB"`
	Reason string `json:"reason" minLength:"1" maxLength:"500"`
}

type putDocumentInput struct {
	Name string `path:"name" example:"returns.en.md" doc:"ends in .md, .txt or .csv; a slash in it as %2F"`
	Body documentBody
}

type deleteDocumentInput struct {
	Name string `path:"name"`
	Body reasoned
}

type getDocumentInput struct {
	Name  string `path:"name"`
	Draft bool   `query:"draft" doc:"as the draft has it, where it changes it"`
}

// DocumentText is a document with its text.
type DocumentText struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	Text string `json:"text"`
}

type documentOutput struct{ Body DocumentText }

type publishInput struct{ Body reasoned }

type publishOutput struct{ Body KnowledgeRevision }

type knowledgeRollbackInput struct{ Body rollbackBody }

func (a *API) registerKnowledgeChanges(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-get-document", Method: http.MethodGet, Path: "knowledge/{name}", Summary: "Read a document",
		Middlewares: huma.Middlewares{named},
	}, []int{400, 404}, a.getDocument)
	manage(a, api, huma.Operation{
		OperationID: "admin-put-document", Method: http.MethodPut, Path: "knowledge/{name}", Summary: "Put a document into the draft",
		Description:  "Markdown, plain text or CSV. Nobody is answered from it before the draft is published.",
		MaxBodyBytes: maxDocumentBody + 2, DefaultStatus: http.StatusNoContent,
		Middlewares: huma.Middlewares{named, documentBodyChecked},
	}, []int{400, 413}, a.putDocument)
	manage(a, api, huma.Operation{
		OperationID: "admin-delete-document", Method: http.MethodDelete, Path: "knowledge/{name}", Summary: "Remove a document in the draft",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{named, checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.deleteDocument)
	manage(a, api, huma.Operation{
		OperationID: "admin-publish-knowledge", Method: http.MethodPost, Path: "knowledge/publish", Summary: "Publish the draft",
		Description: "Each process builds its index of it in the background and answers from the former version until then.",
		Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 409, 413}, a.publishKnowledge)
	manage(a, api, huma.Operation{
		OperationID: "admin-rollback-knowledge", Method: http.MethodPost, Path: "knowledge/rollback", Summary: "Bring an earlier version back",
		Description: "As a new revision with the earlier documents. The draft stays as it is.",
		Middlewares: huma.Middlewares{checkedAs[rollbackBody]},
	}, []int{400, 404, 409, 413}, a.rollbackKnowledge)
}

// named undoes the escapes of a document's name in the path. The router does so only where
// none of them is a slash.
func named(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	if c.Request().URL.RawPath != "" {
		name, err := url.PathUnescape(c.Param("name"))
		if err != nil {
			refuse(ctx, chat.Bad("name", "must be escaped as a part of a path"))
			return
		}
		c.SetParamValues(name)
	}
	next(ctx)
}

// documentBodyChecked reads the body of a document before the library does.
func documentBodyChecked(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	body, err := readBodyUpTo(c.Response(), c.Request(), maxDocumentBody)
	if err == nil {
		err = checkNames(body, reflect.TypeFor[documentBody]())
	}
	if err != nil {
		refuse(ctx, err)
		return
	}
	c.Request().Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

// readDocument checks a document as each process will when it is published.
func readDocument(name, text string) (knowledge.Document, error) {
	if err := knowledge.CheckName(name); err != nil {
		return knowledge.Document{}, chat.Bad("name", "%s", withoutCause(err, knowledge.ErrBounds))
	}
	d, err := knowledge.Read(name, strings.NewReader(text))
	if err != nil {
		return d, chat.Bad("text", "%s", withoutCause(err, knowledge.ErrBounds))
	}
	return d, nil
}

// withoutCause is what an error says without the sentinel at its end, which tells its
// reader nothing.
func withoutCause(err, sentinel error) string {
	return strings.TrimSuffix(err.Error(), ": "+sentinel.Error())
}

func (a *API) getDocument(ctx context.Context, in *getDocumentInput) (*documentOutput, error) {
	v, documents, err := a.published(ctx)
	if err != nil {
		return nil, err
	}
	if in.Draft {
		changes, err := a.deps.Queue.Draft(ctx, v)
		if err != nil {
			return nil, unavailable(err)
		}
		documents = queue.Apply(documents, changes)
	}
	i := slices.IndexFunc(documents, func(d queue.Document) bool { return d.Name == in.Name })
	if i < 0 {
		return nil, notFound("document")
	}
	text, err := a.deps.Queue.Text(ctx, documents[i])
	if err != nil {
		return nil, unavailable(err)
	}
	return &documentOutput{DocumentText{Name: in.Name, Size: len(text), Text: text}}, nil
}

func (a *API) putDocument(ctx context.Context, in *putDocumentInput) (*struct{}, error) {
	d, err := readDocument(in.Name, in.Body.Text)
	if err != nil {
		return nil, err
	}
	e := queue.Audit{
		Action: "knowledge.put", Target: in.Name, Reason: in.Body.Reason, Before: a.draftSide(ctx, in.Name), After: textSide(d.Text),
	}
	return nil, a.change(ctx, e, func() error {
		kept, err := a.deps.Queue.KeepText(ctx, d.Name, d.Text)
		if err != nil {
			return stored(err)
		}
		return a.draft(ctx, queue.Change{Document: kept})
	})
}

func (a *API) deleteDocument(ctx context.Context, in *deleteDocumentInput) (*struct{}, error) {
	before, err := a.getDocument(ctx, &getDocumentInput{Name: in.Name, Draft: true})
	if err != nil {
		return nil, err
	}
	e := queue.Audit{Action: "knowledge.delete", Target: in.Name, Reason: in.Body.Reason, Before: textSide(before.Body.Text)}
	return nil, a.change(ctx, e, func() error {
		return a.draft(ctx, queue.Change{Document: queue.Document{Name: in.Name}, Removed: true})
	})
}

// draft notes a change of the operator's.
func (a *API) draft(ctx context.Context, c queue.Change) error {
	c.At, c.Actor = time.Now().UTC(), operatorOf(ctx).actor
	return stored(a.deps.Queue.SetDraft(ctx, c))
}

func (a *API) publishKnowledge(ctx context.Context, in *publishInput) (*publishOutput, error) {
	e := queue.Audit{Action: "knowledge.publish", Reason: in.Body.Reason}
	return a.putVersion(ctx, e, func(v queue.KnowledgeVersion, by queue.Authorship) (queue.KnowledgeVersion, error) {
		return a.deps.Queue.PublishDraft(ctx, v, knowledge.MaxDocuments, by)
	})
}

func (a *API) rollbackKnowledge(ctx context.Context, in *knowledgeRollbackInput) (*publishOutput, error) {
	if _, err := a.deps.Queue.KnowledgeAt(ctx, in.Body.Revision); errors.Is(err, queue.ErrNotFound) {
		return nil, notFound("revision")
	} else if err != nil {
		return nil, unavailable(err)
	}
	e := queue.Audit{Action: "knowledge.rollback", Target: strconv.FormatUint(in.Body.Revision, 10), Reason: in.Body.Reason}
	return a.putVersion(ctx, e, func(v queue.KnowledgeVersion, by queue.Authorship) (queue.KnowledgeVersion, error) {
		return a.deps.Queue.RollbackKnowledge(ctx, v, in.Body.Revision, by)
	})
}

// putVersion publishes over the newest version.
func (a *API) putVersion(ctx context.Context, e queue.Audit, put func(queue.KnowledgeVersion, queue.Authorship) (queue.KnowledgeVersion, error)) (*publishOutput, error) {
	v, err := a.deps.Queue.Knowledge(ctx)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return nil, unavailable(err)
	}
	by := queue.Authorship{Actor: operatorOf(ctx).actor, Reason: e.Reason}
	out := &publishOutput{}
	e.Before = versionSide(v)
	err = a.change(ctx, e, func() error {
		next, err := put(v, by)
		out.Body = knowledgeRevision(next)
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return &chat.Error{Kind: chat.Conflict, Code: codeUnchanged, Detail: "the draft changes nothing"}
		case errors.Is(err, queue.ErrFull):
			return &chat.Error{Kind: chat.Conflict, Code: codeTooLarge, Detail: "there would be more than " + strconv.Itoa(knowledge.MaxDocuments) + " documents"}
		case errors.Is(err, queue.ErrLost):
			return &chat.Error{Kind: chat.Conflict, Code: codeRevision, Detail: "somebody else has published meanwhile: look at it, and try again"}
		}
		return stored(err)
	})
	return out, err
}

// stored says what kept something from being stored.
func stored(err error) error {
	if errors.Is(err, queue.ErrStorage) {
		return &chat.Error{Kind: chat.Overloaded, Code: codeStorageFull, RetryAfter: time.Minute, Detail: "there is no room for more documents", Err: err}
	}
	return orUnavailable(err)
}
