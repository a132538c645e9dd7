package api

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Names of the operators' security schemes in the API document.
const (
	byOpsToken = "opsToken"
	byLogin    = "login"
)

// adminPath is where operators' calls are.
const adminPath = "/admin/api/"

// auditLimit is how long a note about a change that failed may take.
const auditLimit = 2 * time.Second

// registerAdmin registers everything that operators may ask.
func (a *API) registerAdmin(api huma.API) {
	a.registerLogin(api)
	a.registerTokens(api)
	a.registerOperators(api)
	a.registerPassword(api)
	a.registerOverview(api)
	a.registerStream(api)
	a.registerLanes(api)
	a.registerRules(api)
	a.registerRulesCheck(api)
	a.registerVendors(api)
	a.registerValve(api)
	a.registerTools(api)
	a.registerKnowledge(api)
	a.registerFAQ(api)
	a.registerTickets(api)
	a.registerBulk(api)
	a.registerDead(api)
	a.registerPromises(api)
	a.registerTexts(api)
	a.registerRatings(api)
	a.registerBatchList(api)
	a.registerHandoffs(api)
	a.registerTakeovers(api)
	a.registerHooks(api)
	a.registerTenants(api)
	a.registerAudit(api)
	a.registerAuditExport(api)
	a.registerAlerts(api)
}

// manage registers an operator's call. Its path is below adminPath; its middlewares run
// after the operator is known to have the role that the table of needs names for it.
func manage[I, O any](a *API, api huma.API, op huma.Operation, fails []int, handle func(context.Context, *I) (*O, error)) {
	op.Path, op.Tags = adminPath+op.Path, []string{"admin"}
	op.Security = []map[string][]string{{byOpsToken: {}}, {byLogin: {}}}
	need := ruled(&op)
	op.Middlewares = append(huma.Middlewares{a.operated, allowed(need)}, op.Middlewares...)
	operate(api, op, append(refusals(&op, need), fails...), handle)
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// operator is who makes an operator's call.
type operator struct {
	actor  string // user name, or "token:" and the token's name
	role   chat.Role
	secret string // of the login; empty: it came with a token
}

type operatorKey struct{}

func operatorOf(ctx context.Context) operator {
	o, _ := ctx.Value(operatorKey{}).(operator)
	return o
}

// operated lets in who shows an operator's token, or has a login. A change that comes
// with a login's cookie must come from our own pages and show its CSRF token as well: a
// browser sends the cookie by itself.
func (a *API) operated(ctx huma.Context, next func(huma.Context)) {
	r := humaecho.Unwrap(ctx).Request()
	o, err := a.operator(r)
	if err == nil && o.secret != "" && !reads(r.Method) {
		if err = a.ownPage(r); err == nil {
			err = checkCSRF(r, o.secret)
		}
	}
	if err != nil {
		refuse(ctx, err)
		return
	}
	next(huma.WithValue(ctx, operatorKey{}, o))
}

// checkCSRF refuses a change that does not show the token of its login.
func checkCSRF(r *http.Request, secret string) error {
	given := r.Header.Get("X-CSRF-Token")
	if subtle.ConstantTimeCompare([]byte(given), []byte(csrfOf(secret))) == 1 {
		return nil
	}
	return &chat.Error{Kind: chat.Denied, Code: codeCSRF, Detail: "send the login's csrf in the header X-CSRF-Token"}
}

// ownOrigins knows which pages are ours: those of the address that a request goes to, and
// of the public one, which a proxy may hide.
func ownOrigins(publicURL string) *http.CrossOriginProtection {
	own := http.NewCrossOriginProtection()
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		_ = own.AddTrustedOrigin(u.Scheme + "://" + u.Host) // Validate has seen it
	}
	return own
}

// ownPage refuses what a browser sends for a page of another origin. Callers that are no
// browsers say nothing of an origin.
func (a *API) ownPage(r *http.Request) error {
	if err := a.origins.Check(r); err != nil {
		return &chat.Error{Kind: chat.Denied, Code: codeOrigin, Detail: "a page of another origin may not do this", Err: err}
	}
	return nil
}

func (a *API) operator(r *http.Request) (operator, error) {
	if token := bearer(r.Header.Get("Authorization")); token != "" {
		return a.tokenOperator(r.Context(), token)
	}
	cookie, err := r.Cookie(loginCookie)
	if err != nil || cookie.Value == "" {
		return operator{}, unauthorized("log in, or send Authorization: Bearer and an operator's token (ot_…)")
	}
	return a.loginOperator(r.Context(), cookie.Value)
}

// change notes in the audit what is about to be done, then does it: there is no change
// without an entry. One that fails has a second entry that says so.
func (a *API) change(ctx context.Context, e queue.Audit, do func() error) error {
	if err := checkReason(e.Reason); err != nil {
		return err
	}
	e.At, e.Actor = time.Now().UTC(), operatorOf(ctx).actor
	e.Before, e.After = shortened(e.Before), shortened(e.After)
	if err := a.deps.Queue.Note(ctx, e); err != nil {
		return unavailable(err)
	}
	err := do()
	if err == nil {
		a.deps.Log.Info().Str("stage", "api").Str("actor", e.Actor).Str("action", e.Action).Str("target", e.Target).Msg("operator's change")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditLimit)
	defer cancel()
	e.At, e.Result = time.Now().UTC(), "not done: "+problemOf(err).Code
	if noted := a.deps.Queue.Note(ctx, e); noted != nil {
		a.deps.Log.Warn().Err(noted).Str("stage", "api").Str("action", e.Action).Msg("the audit does not know that a change failed")
	}
	return err
}

// isSeen reports whether a character is one that somebody sees, and no sign for spacing or direction.
func isSeen(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) }

// checkReason asks for words that tell somebody something.
func checkReason(reason string) error {
	if !strings.ContainsFunc(reason, isSeen) {
		return chat.Bad("reason", "must say why")
	}
	return checkText("reason", reason, maxReason)
}

const maxReason = 500

// reasoned is the body of a change that needs nothing but a reason.
type reasoned struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" example:"vendor a is being changed" doc:"why; kept in the audit"`
}

// lost says that somebody else was faster.
func lost(err error, code, detail string) error {
	if errors.Is(err, queue.ErrLost) {
		return &chat.Error{Kind: chat.Conflict, Code: code, Detail: detail, Err: err}
	}
	return unavailable(err)
}
