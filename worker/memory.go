package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/cache"
	"sluice/internal/chat"
)

// Answers keeps answers for the whole cluster, and sees to it that of equal questions one
// is worked on.
type Answers interface {
	// Kept returns an answer that was kept, fresh or not.
	Kept(ctx context.Context, key string) (k chat.Kept, found bool, err error)
	Keep(ctx context.Context, key string, k chat.Kept) error
	// ClaimAnswer makes the caller the one who works on an answer; a nil end: it is not.
	ClaimAnswer(ctx context.Context, key string) (end func(chat.Making), err error)
	// FollowAnswer waits for the answer of who works on it, or until nobody does.
	FollowAnswer(ctx context.Context, key string) (chat.Kept, chat.Making, error)
}

// Memory describes how answers are kept for others who ask the same. All of it is
// required; the functions are asked for each answer anew and must not block.
type Memory struct {
	Answers   Answers
	Keep      func() time.Duration     // how long an answer is fresh; 0: none is kept, nor given
	Jitter    func() time.Duration     // at most this is taken off Keep at random
	Fold      func(string) string      // the form in which texts are compared
	Models    func(chat.Effort) string // who answers
	Knowledge func() string            // version of the knowledge; cache.None: there is none
}

func (m *Memory) validate() error {
	if m.Answers == nil || m.Keep == nil || m.Jitter == nil || m.Fold == nil || m.Models == nil || m.Knowledge == nil {
		return errors.New("worker config: a field of Memory is nil")
	}
	return nil
}

// Times of kept answers. One is given for staleFor after it should have been made anew. What
// this process has read of the cluster it goes by for nearFor, and that there is nothing
// for absentFor; an old answer is seen to at most once each renewEvery.
const (
	staleFor   = 24 * time.Hour
	nearFor    = 5 * time.Second
	absentFor  = time.Second
	renewEvery = time.Second
	keepLimit  = 2 * time.Second // for the write of one
)

// nearBytes bounds the answers that a process has at hand.
const nearBytes = 16 << 20

// memory is the answers that this process has at hand, and what it works on. It is safe for
// concurrent use.
type memory struct {
	Memory
	near  *cache.Cache[*near]
	tally cache.Tally

	mu     sync.Mutex // guards the rest
	making map[cache.Key]*making
	leads  map[string]*lead // by ticket
}

// near is what was read of the cluster last.
type near struct {
	chat.Kept
	found   bool
	renewAt atomic.Int64 // when somebody last saw to it, as Unix nanoseconds
}

// making is the one of this process that looks for an answer or works on it; the others wait.
type making struct {
	key  cache.Key
	done chan struct{}
	own  bool // each works for itself; stands once done is closed
}

// lead is a ticket whose answer others wait for.
type lead struct {
	making *making
	end    func(chat.Making) // for the cluster
	how    chat.Making       // it came to; empty: nothing yet
}

func newMemory(m *Memory) (*memory, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	at, err := cache.New(cache.Config[*near]{
		Name: "answers", Bound: nearBytes, Cost: func(n *near) int { return 256 + len(n.Reply.Text) + len(n.Reply.HTML) },
		Keep: func() time.Duration { return nearFor }, Empty: func(n *near) bool { return !n.found }, EmptyFor: absentFor,
	})
	if err != nil {
		return nil, err
	}
	return &memory{Memory: *m, near: at, making: map[cache.Key]*making{}, leads: map[string]*lead{}}, nil
}

// begin makes the caller the one who sees to a key, or returns who does.
func (m *memory) begin(key cache.Key) (at *making, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.making[key]; at != nil {
		return at, false
	}
	at = &making{key: key, done: make(chan struct{})}
	m.making[key] = at
	return at, true
}

// finish lets those go on who wait; own says that each works for itself. A second one does
// nothing.
func (m *memory) finish(at *making, own bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.making[at.key] != at {
		return
	}
	delete(m.making, at.key)
	at.own = own
	close(at.done)
}

// store keeps an answer here and in the cluster.
func (m *memory) store(ctx context.Context, key cache.Key, reply chat.Reply) error {
	now, keep := time.Now(), m.Keep()
	if jitter := min(m.Jitter(), keep/2); jitter > 0 {
		keep -= rand.N(jitter)
	}
	k := chat.Kept{Reply: reply, MadeAt: now, FreshUntil: now.Add(keep), GoneAt: now.Add(keep + staleFor)}
	m.near.Put(key, &near{Kept: k, found: true})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	return m.Answers.Keep(ctx, key.String(), k)
}

// remember keeps an answer that was just made, if others may have it; fit says that it
// rests on nothing but the question.
func (w *Worker) remember(ctx context.Context, q chat.Question, how chat.Effort, ans chat.Answer, fit bool) {
	m, t := w.memory, &q.Ticket
	if m == nil || m.Keep() <= 0 || !shares(how) || !Cacheable(t, q.History) {
		return
	}
	key, err := w.keyOf(t, how)
	came := chat.MakingUnfit
	if err == nil && fit && ans.Asks == nil && ans.Trouble == "" && ans.Handoff == "" && !ans.Foreign && whole(ans.Reply.Text) {
		came = chat.MakingGiven
		err = m.store(ctx, key, ans.Reply)
	}
	if err != nil {
		came = chat.MakingFailed
		m.tally.Failed.Add(1)
		zerolog.Ctx(ctx).Warn().Err(err).Msg("an answer is not kept for others")
	}
	m.mu.Lock()
	l := m.leads[t.ID]
	if l != nil && l.making.key == key { // not where another rung has answered
		l.how = came
	} else {
		l = nil
	}
	m.mu.Unlock()
	if l != nil && came == chat.MakingGiven {
		m.finish(l.making, false)
	}
}

// shares reports whether answers made so are given to others: not those that speak of the
// present load.
func shares(how chat.Effort) bool { return how.Calls() && !how.Bare }

// keyOf is the key of a ticket's answer: all that goes into it is named there.
func (w *Worker) keyOf(t *chat.Ticket, how chat.Effort) (cache.Key, error) {
	scope := cache.Scope{
		Tenant: t.Tenant, Model: string(how.Route) + " " + w.memory.Models(how),
		Prompt: w.edition(t.Language), Knowledge: w.memory.Knowledge(),
	}
	asked := strings.Join(strings.Fields(w.memory.Fold(t.Message)), " ")
	return scope.Key(t.Language, strings.TrimRight(asked, " .。?!~…"))
}

// edition names the prompts of a language and the tools in force.
func (w *Worker) edition(language string) string {
	tools := cache.None
	if set := w.tools(); set != nil {
		tools = set.Version()
	}
	return w.prompts[language] + " " + tools
}

// promptVersions names all that a prompt may begin with, by language.
func (w *Worker) promptVersions() map[string]string {
	all := map[string]string{}
	for language, texts := range map[string][]string{
		chat.Chinese: {promptChinese, toolsChinese, anonymousChinese, bareChinese, uncoveredChinese, ragChinese, notedChinese, referenceChinese},
		chat.English: {promptEnglish, toolsEnglish, anonymousEnglish, bareEnglish, uncoveredEnglish, ragEnglish, notedEnglish, referenceEnglish},
	} {
		sum := sha256.Sum256([]byte(strings.Join(append(texts, w.system(language)), "\x00")))
		all[language] = hex.EncodeToString(sum[:8])
	}
	return all
}

// Recalls returns how often answers were found that others were given.
func (w *Worker) Recalls() cache.Counts {
	if w.memory == nil {
		return cache.Counts{}
	}
	return w.memory.tally.Counts()
}
