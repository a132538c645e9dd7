package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/tmc/langchaingo/llms"
	"github.com/yuin/goldmark"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/knowledge"
	"sluice/internal/llm"
	"sluice/internal/tool"
)

// Config describes a worker.
type Config struct {
	// Templates are the answers that need no vendor: intent → language → wordings, which
	// may have gaps (template.go). The intent Other is required in both languages, with a
	// wording that has none, and serves every intent without one.
	Templates map[string]map[string][]string
	// Prompts are the system prompts by language. A missing one is the shipped one.
	Prompts map[string]string
	// MaxTokens is the longest answer asked for, in tokens. 0: 800.
	MaxTokens int
	// Tools returns the tools in force, for each answer anew. Nil, or nil from it: none.
	Tools func() *tool.Set
	// Claims keep what cannot be undone from being done twice. Nil: nothing of that kind is.
	Claims tool.Claims
	// Away returns the tools that take no call now. Nil: nobody knows.
	Away func() map[string]bool
	// Knowledge returns what is in force to answer from, for each answer anew. Nil: nothing.
	Knowledge func() Knowledge
	// MaxSteps returns the most calls of the model for one answer. Nil: 6.
	MaxSteps func() int
	// Retrieval returns how long what was found in the knowledge is kept. Nil: it is not.
	Retrieval func() time.Duration
	// Memory keeps answers for others who ask the same. Nil: nothing is kept.
	Memory *Memory
	// FAQ returns the entries in force, for each ticket anew. Nil, or nil from it: none.
	FAQ func() *faq.Base
	// Vector returns the vector of a ticket's message in a space, where one can be had
	// without being in the way; nil: not now. Nil: there is none ever.
	Vector func(t *chat.Ticket, space string) []float32
	// Missed hears of each question that no entry answers; it must not block. Nil: nobody does.
	Missed func(*faq.Base, *chat.Ticket, faq.Match)
}

// Other is the intent of a message that no other one fits.
const Other = "other"

const defaultSteps = 6

// Validate names the field that is wrong.
func (c Config) Validate() error {
	for _, lang := range []string{chat.Chinese, chat.English} {
		if len(gapless(c.Templates[Other][lang])) == 0 {
			return fmt.Errorf("worker config: Templates[%s][%s] has no text without gaps", Other, lang)
		}
	}
	if c.MaxTokens < 0 {
		return errors.New("worker config: MaxTokens must not be negative")
	}
	return nil
}

// Worker makes answers with one model. It is safe for concurrent use.
type Worker struct {
	cfg      Config
	model    llms.Model
	policy   *bluemonday.Policy
	markdown goldmark.Markdown

	templates templates
	memory    *memory                       // nil: nothing is kept
	retrieved *cache.Cache[[]knowledge.Hit] // nil: nothing is kept
	prompts   map[string]string             // their versions by language
}

// New returns a worker that calls model, which stands behind the vendor gate. Close ends it.
func New(model llms.Model, cfg Config) (*Worker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.MaxTokens == 0 {
		cfg.MaxTokens = 800
	}
	if cfg.MaxSteps == nil {
		cfg.MaxSteps = func() int { return defaultSteps }
	}
	w := &Worker{cfg: cfg, model: model, policy: newPolicy(), markdown: newMarkdown(), templates: newTemplates(cfg.Templates)}
	w.prompts = w.promptVersions()
	var err error
	if cfg.Retrieval != nil {
		if w.retrieved, err = newRetrieved(cfg.Retrieval); err != nil {
			return nil, err
		}
	}
	if cfg.Memory != nil {
		if w.memory, err = newMemory(cfg.Memory); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Answer asks the model as how says: from the knowledge (chat.RouteRAG), or with the
// session's history and the tools that the model wishes for. stream gets the customer's
// text as it comes and must not block. An answer that broke off is an error, never an
// answer; one that reached Config.MaxTokens is given with a mark that it goes no further.
func (w *Worker) Answer(ctx context.Context, q chat.Question, how chat.Effort, stream func(text string)) (chat.Answer, error) {
	if how.Route == chat.RouteRAG {
		ans, err := w.rag(ctx, q, stream)
		if errors.Is(err, ErrUnknown) { // another version was published since Knows was asked
			return w.unknown(q.Ticket.Language, stream), nil
		}
		if err == nil {
			ans = w.truthful(ans, &q.Ticket, false)
			w.remember(ctx, q, how, ans, true)
		}
		return ans, err
	}
	if ans, chosen := w.choose(&q.Ticket, q.History); chosen {
		return ans, nil
	}
	a := &agent{w: w, q: q, stream: stream, bare: how.Bare}
	if set := w.tools(); set != nil {
		a.run = set.Begin(q, w.cfg.Claims)
		if deed, confirmed := a.run.Confirmed(); confirmed {
			v, err := a.run.Commit(ctx, deed)
			return w.report(a.run, v, q.Ticket.Language), err
		}
	}
	a.messages = w.prompt(q, a.run, a.bare)
	if err := a.answer(ctx, w.cfg.MaxSteps()); err != nil {
		return chat.Answer{}, err
	}
	ans := chat.Answer{Reply: w.reply(a.text(), q.Ticket.Language), Route: chat.RouteAgent, Usage: &a.usage, Foreign: a.talk.foreign}
	ours := a.run != nil && a.run.Person() // in our words, not the model's alone
	ans = w.truthful(ans, &q.Ticket, ours)
	if a.run != nil {
		if question, deed, asked := a.run.Question(); asked {
			ans.Reply, ans.Asks, ours = w.reply(question, q.Ticket.Language), &deed, true
		}
		if v := a.run.Handed(); v != nil {
			calls := ans.Handoff
			ans, ours = w.report(a.run, *v, q.Ticket.Language), true
			ans.Usage, ans.Handoff = &a.usage, calls
		}
	}
	if len(a.said) == 0 && !ours { // a next rung has something to say
		return chat.Answer{}, fmt.Errorf("ask the model: %w", &llm.Error{Kind: llm.Empty})
	}
	w.remember(ctx, q, how, ans, !a.called && len(w.away()) == 0)
	return ans, nil
}

// Settles reports whether a ticket needs no model: its customer agrees to what was asked
// before, or chooses from what was offered. history is called only where the message may
// do either.
func (w *Worker) Settles(t *chat.Ticket, history func() []chat.Event) bool {
	if w.mayChoose(t.Message) {
		history = sync.OnceValue(history)
		if _, chosen := w.choose(t, history()); chosen {
			return true
		}
	}
	set := w.tools()
	if set == nil || t.Customer == nil || !tool.Agrees(t.Message) {
		return false
	}
	_, confirmed := set.Begin(chat.Question{Ticket: *t, History: history()}, w.cfg.Claims).Confirmed()
	return confirmed
}

// Resume sees to its end what a ticket set out to do before its former holder was lost,
// and tells the customer. It needs no model. An error says that nobody knows how far it
// came: the ticket has to be taken up again.
func (w *Worker) Resume(ctx context.Context, q chat.Question) (chat.Answer, error) {
	set := w.tools()
	if set == nil {
		set = &tool.Set{} // the rules have no tools any more: a person has to look
	}
	run := set.Begin(q, w.cfg.Claims)
	v, err := run.Perform(ctx, *q.Ticket.Deed)
	if err != nil {
		return chat.Answer{}, err
	}
	return w.report(run, v, q.Ticket.Language), nil
}

// report is the answer that tells of a deed, in our own words.
func (w *Worker) report(run *tool.Run, v tool.Verdict, language string) chat.Answer {
	ans := chat.Answer{Reply: w.reply(run.Report(v), language), Route: chat.RouteAgent}
	if v.Outcome == tool.Handed {
		ans.Trouble = fmt.Sprintf("nobody knows whether %s was done: claim %s, %d tries", v.Claim.Tool, v.Claim.ID, v.Claim.Tries)
	}
	return ans
}

// tools returns the tools in force; nil: there are none.
func (w *Worker) tools() *tool.Set {
	if w.cfg.Tools == nil {
		return nil
	}
	if set := w.cfg.Tools(); set != nil && !set.Empty() {
		return set
	}
	return nil
}

func (w *Worker) away() map[string]bool {
	if w.cfg.Away == nil {
		return nil
	}
	return w.cfg.Away()
}

// Estimate returns how many tokens the first call for a ticket may use, rather too many
// than too few: its message, the prompt, an average history and the longest answer. The
// vendor's own count replaces it at the end.
func (w *Worker) Estimate(t *chat.Ticket) int {
	around := 500 // prompt and history
	if set := w.tools(); set != nil {
		around += set.Tokens()
	}
	return len(t.Message)/3 + around + w.cfg.MaxTokens
}

// Fallback answers with the template of the ticket's intent, in its language; in
// English where the language has none. It never comes back empty.
func (w *Worker) Fallback(t *chat.Ticket, reason chat.Reason) chat.Answer {
	text, language := w.templates.choose(t)
	return chat.Answer{Reply: w.reply(text, language), Route: chat.RouteTemplate, Reason: reason}
}

// Handoff is the message that people take over.
func (w *Worker) Handoff(t *chat.Ticket) chat.Reply {
	if t.Language == chat.Chinese {
		return w.reply("您的问题很重要，我们已转给人工客服处理，工单号 "+t.ID+"。请稍候，无需重复发送；有新的情况可以随时补充。", chat.Chinese)
	}
	return w.reply("Your matter is important: it has been passed to a colleague under ticket "+t.ID+". There is no need to write again; add whatever is new at any time.", chat.English)
}

func (w *Worker) reply(text, language string) chat.Reply {
	return chat.Reply{Text: text, HTML: w.render(text), Locale: language, Sources: []chat.Source{}}
}
