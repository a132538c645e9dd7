package tool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// mostWait is the longest that a call waits for a permit of its tool: a customer waits
// meanwhile, and the answer goes on without it.
const mostWait = time.Second

// Run is the tools of one answer. It is safe for concurrent use.
type Run struct {
	set      *Set
	claims   Claims // nil: nothing that cannot be undone is done
	question chat.Question

	mu        sync.Mutex // guards the rest
	calls     map[string]int
	told      map[string]*told // at most as many as calls may be made
	asks      *chat.Deed       // what the customer is to be asked for
	later     []string         // the orders of further deeds, which are not asked for now
	committed bool
	person    bool     // one was called
	handed    *Verdict // of a deed that a person has to look at
	fault     error
}

// Begin makes the tools of one answer.
func (s *Set) Begin(q chat.Question, claims Claims) *Run {
	return &Run{set: s, claims: claims, question: q, calls: map[string]int{}, told: map[string]*told{}}
}

// Err returns what keeps the answer from going on: nobody knows how far a deed came, and
// the ticket has to be taken up again. Nil: nothing does.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// Definitions are what the model is offered: without tools that need an identity where
// there is none, which would only cost a step. away names tools whose breaker is open: the
// model is told so, and they stay in their places, which keeps the prompt's prefix.
func (r *Run) Definitions(away map[string]bool) []llms.Tool {
	var all []llms.Tool
	language := r.language()
	for _, t := range r.set.tools {
		if t.Identity && r.customer() == "" {
			continue
		}
		about := t.Description[language]
		if away[t.Name] {
			about += texts[language].away
		}
		all = append(all, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: about, Parameters: t.arguments.text,
		}})
	}
	return all
}

// Anonymous reports whether there are tools that this customer would have to sign in for.
func (r *Run) Anonymous() bool {
	return r.customer() == "" && slices.ContainsFunc(r.set.tools, func(t *known) bool { return t.Identity })
}

// Call does what the model wishes and returns what it observes. It ends with ctx. Nothing
// that goes wrong, a panic included, is more than an observation.
func (r *Run) Call(ctx context.Context, name, args string) (observation string) {
	defer func() {
		if recover() != nil {
			r.unsettled()
			observation = r.complain(r.texts().failed, name)
		}
	}()
	t := r.set.named(name)
	if t == nil {
		return r.complain(r.texts().unknown, name)
	}
	if !r.count(t) {
		return r.complain(r.texts().often, name)
	}
	object, err := t.arguments.read(args)
	if err != nil {
		return r.complain(r.texts().arguments, name, err.Error())
	}
	if t.Identity && r.customer() == "" {
		return r.complain(r.texts().anonymous, name)
	}
	if t.Effect {
		return r.act(ctx, t, object)
	}
	got := r.once(ctx, t, object)
	if t.Handoff && got.state == good {
		r.mu.Lock()
		r.person = true
		r.mu.Unlock()
	}
	return r.observe(t, got)
}

// Person reports whether a person was called to take over.
func (r *Run) Person() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.person
}

// act has a deed done that a model wishes for, or has the customer asked before: the model's
// word is never enough for one that must be confirmed.
func (r *Run) act(ctx context.Context, t *known, arguments map[string]any) string {
	deed, err := deedOf(t, arguments)
	if err != nil {
		return r.complain(r.texts().failed, t.Name)
	}
	if t.Confirm {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.asks == nil:
			r.asks = &deed
		case r.asks.Tool != deed.Tool || r.asks.Order != deed.Order:
			if !slices.Contains(r.later, deed.Order) {
				r.later = append(r.later, deed.Order)
			}
			return r.complain(r.texts().oneAtATime, t.Name)
		}
		return encoded(map[string]string{"status": r.texts().asked})
	}
	v, err := r.Commit(ctx, deed)
	if err != nil {
		return r.complain(r.texts().failed, t.Name)
	}
	if v.Outcome == Done {
		return r.masked(r.bounded(string(compact(v.Claim.Result))))
	}
	return r.complain("%s", r.Report(v))
}

// Commit commits the ticket to a deed and performs it. An answer does one.
func (r *Run) Commit(ctx context.Context, deed chat.Deed) (Verdict, error) {
	r.mu.Lock()
	again := r.committed
	r.committed = true
	clear(r.told) // what was read before a deed does not hold after it
	r.mu.Unlock()
	if again {
		return Verdict{Outcome: Busy, Claim: chat.Claim{Deed: deed}}, nil
	}
	err := errNoClaims
	if r.question.Commit != nil {
		err = r.question.Commit(ctx, deed)
	}
	v := Verdict{}
	if err == nil {
		v, err = r.Perform(ctx, deed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault = err; err == nil && v.Outcome == Handed {
		r.handed = &v
	}
	return v, err
}

// Handed returns what came of a deed that a person has to look at; nil: none has to.
func (r *Run) Handed() *Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handed
}

var errUnsettled = errors.New("a panic kept a deed from its end")

// unsettled notes after a panic that a deed may have begun.
func (r *Run) unsettled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committed && r.fault == nil {
		r.fault = errUnsettled
	}
}

// count counts a call; false: there were as many as an answer may make.
func (r *Run) count(t *known) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[t.Name] >= t.PerAnswer {
		return false
	}
	r.calls[t.Name]++
	return true
}

// reach makes one call with a permit of its tool.
func (r *Run) reach(ctx context.Context, t *known, req request) result {
	entry, err := gate.Enter(ctx, Account(t.Name), min(t.Timeout, mostWait))
	if err != nil {
		return result{state: busy}
	}
	ended := gate.End{}
	defer func() { entry.Done(ended) }() // also of a panic
	ctx, stop := entry.Context(ctx)
	defer stop()
	began := time.Now()
	got := r.send(ctx, t, req)
	if ctx.Err() != nil {
		return result{state: unknown} // the answer was cancelled, or the permit is lost: nobody is to blame
	}
	ended = got.end
	if got.state == good && time.Since(began) > t.SlowAfter {
		ended.Outcome = gate.Slow
	}
	return got
}

// customer is whom the answer is for, by the ticket.
func (r *Run) customer() string {
	if c := r.question.Ticket.Customer; c != nil {
		return c.ID
	}
	return ""
}

func (r *Run) language() string {
	if r.question.Ticket.Language == chat.Chinese {
		return chat.Chinese
	}
	return chat.English
}
