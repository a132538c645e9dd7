package api

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"sluice/internal/chat"
)

// The codes of problems. They are part of the contract.
const (
	codeInternal     = "internal"
	codeInvalid      = "invalid"
	codeUnauthorized = "unauthorized"
	codeLane         = "lane_not_allowed"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codeIdempotency  = "idempotency_conflict"
	codeEnded        = "ended"
	codeOpen         = "open"
	codeInEffect     = "in_effect"
	codeTenantExists = "tenant_exists"
	codeTooLarge     = "too_large"
	codeTimeout      = "timeout"
	codeMediaType    = "unsupported_media_type"
	codeUpgrade      = "upgrade_required"
	codeRateLimited  = "rate_limited"
	codeQuota        = "quota_exceeded"
	codePolls        = "too_many_polls"
	codeStreams      = "too_many_streams"
	codeQueueFull    = "queue_full"
	codeStorageFull  = "storage_full"
	codeDraining     = "draining"
	codeUnavailable  = "unavailable"
	codeHistory      = "history_unavailable"
	codeCSRF         = "csrf"
	codeLaneState    = "lane_state"
	codeBusy         = "busy"
	codeSession      = "session_conflict"
	codeRevision     = "revision_conflict"
	codeLayout       = "layout"
	codeExists       = "exists"
	codeSignature    = "signature"
	codeLoginOnly    = "login_only"
	codeRole         = "role_required"
	codeLastAdmin    = "last_admin"
	codePassword     = "wrong_password"
	codeOrigin       = "origin"
	codeTaken        = "taken"
	codeNotTaken     = "not_taken"
	codeHookState    = "webhook_state"
	codeTextState    = "sms_state"
)

// statusOf maps an error to its HTTP status: the kind decides, unless the code has a
// status of its own.
func statusOf(kind chat.Kind, code string) int {
	switch code {
	case codeUnauthorized:
		return http.StatusUnauthorized
	case codeMethod:
		return http.StatusMethodNotAllowed
	case codeTimeout:
		return http.StatusRequestTimeout
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeMediaType:
		return http.StatusUnsupportedMediaType
	case codeUpgrade:
		return http.StatusUpgradeRequired
	case codeRateLimited, codeQuota, codePolls:
		return http.StatusTooManyRequests
	}
	switch kind {
	case chat.Invalid:
		return http.StatusBadRequest
	case chat.NotFound:
		return http.StatusNotFound
	case chat.Conflict:
		return http.StatusConflict
	case chat.Denied:
		return http.StatusForbidden
	case chat.Overloaded, chat.Transient:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// codeOf names a status that a library chose. What it calls unprocessable is invalid.
func codeOf(status int) (chat.Kind, string) {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return chat.Invalid, codeInvalid
	case http.StatusNotFound:
		return chat.NotFound, codeNotFound
	case http.StatusMethodNotAllowed:
		return chat.Invalid, codeMethod
	case http.StatusRequestTimeout:
		return chat.Transient, codeTimeout
	case http.StatusRequestEntityTooLarge:
		return chat.Invalid, codeTooLarge
	case http.StatusUnsupportedMediaType:
		return chat.Invalid, codeMediaType
	}
	return chat.Internal, codeInternal
}

// Fault is one field that a request got wrong.
type Fault struct {
	Field  string `json:"field" doc:"path of the field in the body, or name of the header or parameter"`
	Detail string `json:"detail"`
	Line   int    `json:"line,omitempty" doc:"of a text with lines: where, from 1"`
	Column int    `json:"column,omitempty" doc:"in characters, from 1"`
}

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type         string  `json:"type" example:"urn:sluice:problem:queue_full"`
	Title        string  `json:"title" example:"queue full"`
	Status       int     `json:"status" example:"503"`
	Detail       string  `json:"detail"`
	Code         string  `json:"code" example:"queue_full"`
	Errors       []Fault `json:"errors,omitempty" doc:"for code invalid: each field that is wrong"`
	RetryAfterMS int64   `json:"retry_after_ms,omitempty" doc:"when to try again; also in the header Retry-After, in whole seconds"`
	Reply        string  `json:"reply,omitempty" doc:"for a message refused for load: what to show to the customer, in their language"`

	cause error // for the log only
}

// problemOf makes the problem that a caller sees of err. What is no *chat.Error is
// internal, and its text stays inside.
func problemOf(err error) *Problem {
	var known *Problem
	if errors.As(err, &known) {
		return known
	}
	var e *chat.Error
	if !errors.As(err, &e) {
		e = &chat.Error{Kind: chat.Internal, Code: codeInternal, Detail: "something went wrong on our side", Err: err}
	}
	p := newProblem(e.Kind, e.Code, e.Detail)
	p.RetryAfterMS, p.cause = e.RetryAfter.Milliseconds(), e.Err
	if e.Kind == chat.Invalid && e.Field != "" {
		p.Errors = []Fault{{Field: e.Field, Detail: e.Detail}}
		p.Detail = e.Field + " " + e.Detail
	}
	return p
}

func newProblem(kind chat.Kind, code, detail string) *Problem {
	return &Problem{
		Type: "urn:sluice:problem:" + code, Title: strings.ReplaceAll(code, "_", " "),
		Status: statusOf(kind, code), Detail: detail, Code: code,
	}
}

// Error returns code and detail.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers that go with the problem.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.RetryAfterMS > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64(math.Ceil(float64(p.RetryAfterMS)/1000)), 10))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sluice"`)
	}
	return h
}

// ContentType returns the media type of a problem.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// missing tells the library's words for an absent field; it names the object there
// and the field only in the sentence.
const missing = "expected required property "

// problemOfModel translates what the library found wrong. The values that it repeats
// are left out: they are the customer's.
func problemOfModel(m *huma.ErrorModel) *Problem {
	kind, code := codeOf(m.Status)
	p := newProblem(kind, code, m.Detail)
	for _, e := range m.Errors {
		if e == nil {
			continue
		}
		f := Fault{Field: e.Location, Detail: e.Message}
		if _, field, found := strings.Cut(e.Location, "."); found {
			f.Field = field
		}
		if rest, found := strings.CutPrefix(e.Message, missing); found {
			name, _, _ := strings.Cut(rest, " ")
			f.Field = strings.TrimPrefix(strings.TrimPrefix(e.Location+"."+name, "body"), ".")
		}
		// An unknown field's name is as long as the caller likes.
		f.Field = cut(f.Field, 200)
		p.Errors = append(p.Errors, f)
	}
	return p
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// problemOfEcho translates an error that the router or a middleware came to.
func problemOfEcho(err error) *Problem {
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return problemOf(err)
	}
	kind, code := codeOf(he.Code)
	p := newProblem(kind, code, strings.ToLower(http.StatusText(he.Code)))
	p.cause = he.Internal
	return p
}

// unavailable says that the engine did not answer as it should. An error that tells
// the caller more than that is kept.
func unavailable(err error) *chat.Error {
	var e *chat.Error
	if errors.As(err, &e) {
		return e
	}
	return &chat.Error{
		Kind: chat.Transient, Code: codeUnavailable, RetryAfter: time.Second, Err: err,
		Detail: "a part of the service does not answer; the same request may be repeated",
	}
}

func notFound(what string) *chat.Error {
	return &chat.Error{Kind: chat.NotFound, Code: codeNotFound, Detail: "there is no such " + what}
}
