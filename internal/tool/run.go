package tool

import (
	"context"
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
	question chat.Question

	mu    sync.Mutex // guards the rest
	calls map[string]int
}

// Begin makes the tools of one answer.
func (s *Set) Begin(q chat.Question) *Run {
	return &Run{set: s, question: q, calls: map[string]int{}}
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
			observation = r.fault(r.texts().failed, name)
		}
	}()
	t := r.set.named(name)
	if t == nil {
		return r.fault(r.texts().unknown, name)
	}
	if !r.count(t) {
		return r.fault(r.texts().often, name)
	}
	object, err := t.arguments.read(args)
	if err != nil {
		return r.fault(r.texts().arguments, name, err.Error())
	}
	if t.Identity && r.customer() == "" {
		return r.fault(r.texts().anonymous, name)
	}
	return r.observe(t, r.reach(ctx, t, request{arguments: object}))
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
	var got result
	ended := gate.End{}
	defer func() { entry.Done(ended) }() // also of a panic
	ctx, stop := entry.Context(ctx)
	defer stop()
	began := time.Now()
	got = r.send(ctx, t, req)
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
