package api

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// adminPassword is every operator's, and adminHash what is stored of it.
const (
	adminPassword = "correct horse"
	adminHash     = "$argon2id$v=19$m=19456,t=2,p=1$ieubbX0cAymMwWebZJcI4g$TNNQa7b1noM14HpTTaAXX2y0qTgr00D2fFbxKQfrEVg"
)

// breakers is a controller that knows vendor a and a tool, and runs nothing.
type breakers struct {
	mu    sync.Mutex
	state string // of vendor a
	tool  string // of order_query
}

func (b *breakers) States(context.Context) (map[string]VendorState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return map[string]VendorState{
		"a": {InUse: 2, Limit: 48, Breaker: b.state}, "tool:order_query": {InUse: 1, Limit: 16, Breaker: b.tool},
	}, nil
}

func (b *breakers) Running(context.Context) (map[chat.Lane]int, error) {
	return map[chat.Lane]int{}, nil
}

func (b *breakers) OpenBreaker(_ context.Context, vendor string) error { return b.turn(vendor, "open") }

func (b *breakers) Levels(context.Context) (map[chat.Lane]int, []LevelChange, error) {
	return map[chat.Lane]int{chat.High: 0, chat.Normal: 2, chat.Low: 3}, []LevelChange{{Lane: chat.Low, From: 2, To: 3, Cause: "depth"}}, nil
}

func (b *breakers) CloseBreaker(_ context.Context, vendor string) error {
	return b.turn(vendor, "closed")
}

func (b *breakers) turn(vendor, state string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch vendor {
	case "a":
		b.state = state
	case "tool:order_query":
		b.tool = state
	default:
		return errors.New("nobody answers")
	}
	return nil
}

// nodes starts n nodes over one engine, with an operator admin, the shipped rules and
// the tenants demo (high) and shop (normal).
func nodes(t *testing.T, n int) []*fixture {
	t.Helper()
	srv, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(srv.Stop)
	shipped, err := rules.Parse("shipped", rules.Default())
	must(t, err)
	vendors := &breakers{state: "closed", tool: "closed"}
	var all []*fixture
	for i := range n {
		all = append(all, node(t, srv, shipped, vendors, []string{"one", "two"}[i]))
	}
	first := all[0]
	first.hire("admin", chat.Admin)
	first.demo, first.shop = first.tenant("demo", chat.High), first.tenant("shop", chat.Normal)
	_, err = first.deps.Store.Store(t.Context(), rules.Default(), 0)
	must(t, err)
	for _, f := range all {
		f.demo, f.shop = first.demo, first.shop
	}
	return all
}

func node(t *testing.T, srv *queue.Server, shipped *rules.Rules, vendors Vendors, name string) *fixture {
	t.Helper()
	nc, err := srv.Dial()
	must(t, err)
	t.Cleanup(nc.Close)
	store, err := queue.OpenRules(t.Context(), nc, 1)
	must(t, err)
	bounds := map[chat.Lane]int{}
	for _, l := range chat.Lanes() {
		bounds[l] = shipped.Lanes[l].Bound
	}
	q, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	must(t, err)
	lanes, err := queue.NewLanes(q, queue.LanesConfig{Node: name, Intake: true, Log: zerolog.Nop(),
		Answer: func(t *chat.Ticket, reason chat.Reason) chat.Answer {
			return chat.Answer{Reply: chat.Reply{Text: "later", HTML: "later", Locale: "en"}, Route: chat.RouteTemplate, Reason: reason}
		}})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lanes.Run(ctx) }()
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	<-lanes.Ready()
	a, err := New(Deps{
		Queue: q, Rules: func() *rules.Rules { return shipped }, Classify: classifyByWord, Line: frontLine{}, Lanes: lanes,
		Store: store, Vendors: vendors, FAQ: shippedFAQ, Log: zerolog.Nop(),
		Unfit: func(now, next *rules.Rules) (string, string) {
			if now.Replicas != next.Replicas {
				return "replicas", "must stay"
			}
			return "", ""
		},
		Trials: func(actor string, _, next *rules.Rules) (all []IntentTrial) {
			for _, in := range next.Intents {
				if len(in.Examples) > 0 {
					all = append(all, IntentTrial{Intent: in.Name, Status: TrialPending, Lost: []IntentMix{}, Won: []IntentMix{{Intent: actor}}})
				}
			}
			return all
		},
	}, Config{})
	must(t, err)
	f := &fixture{API: a, t: t, queue: q, engine: nc, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	f.serve()
	return f
}

// login returns the cookie and the CSRF token of the operator admin.
func (f *fixture) login() (cookie, csrf string) {
	f.t.Helper()
	a := f.call("POST", "/admin/api/login", "", map[string]string{"user": "admin", "password": adminPassword})
	if a.status != http.StatusOK {
		f.t.Fatalf("login: %d %s", a.status, a.raw)
	}
	cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
	return cookie, a.text("csrf")
}

// hire stores an operator.
func (f *fixture) hire(name string, role chat.Role) {
	f.t.Helper()
	must(f.t, f.queue.ChangeStaff(f.t.Context(), func(s *queue.Staff) error {
		s.Put(queue.NewOperator(name, role, adminHash, time.Now()))
		return nil
	}))
}

// enter returns the cookie and the CSRF token of a login that is stored without a password.
func (f *fixture) enter(name string) (cookie, csrf string) {
	f.t.Helper()
	staff, err := f.queue.Staff(f.t.Context())
	must(f.t, err)
	o, found := staff.Find(name)
	if !found {
		f.t.Fatalf("there is no operator %s", name)
	}
	secret := "os_" + rand.Text()
	must(f.t, f.queue.AddLogin(f.t.Context(), chat.HashKey(secret), queue.Login{User: name, Mark: o.Mark, At: time.Now()}, loginFor))
	return loginCookie + "=" + secret, csrfOf(secret)
}

// token stores a token of a role and returns it.
func (f *fixture) token(role chat.Role) string {
	f.t.Helper()
	name := "of-" + string(role)
	token := opsPrefix + name + "." + rand.Text()
	must(f.t, f.queue.AddOpsToken(f.t.Context(), queue.OpsToken{Name: name, Role: role, Hash: chat.HashKey(token)}))
	return token
}

// admin makes an operator's call with a login; the cookie is made at the first one.
func (f *fixture) admin(method, path string, body any, headers ...string) answer {
	f.t.Helper()
	if f.cookie == "" {
		f.cookie, f.csrf = f.enter("admin")
	}
	return f.call(method, "/admin/api/"+path, "", body, append([]string{"Cookie", f.cookie, "X-CSRF-Token", f.csrf}, headers...)...)
}

// lane reads a lane in the overview.
func (f *fixture) lane(name chat.Lane) Lane {
	f.t.Helper()
	l, err := f.API.lane(f.t.Context(), name, map[chat.Lane]int{})
	must(f.t, err)
	return l
}

// await waits until ok holds, and fails after a while.
func (f *fixture) await(what string, ok func() bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-ctx.Done():
			f.t.Fatalf("%s did not come", what)
		}
	}
}

var why = map[string]any{"reason": "because of a test"}

// with adds fields to a reason.
func with(fields map[string]any) map[string]any {
	body := map[string]any{"reason": "because of a test"}
	maps.Copy(body, fields)
	return body
}
