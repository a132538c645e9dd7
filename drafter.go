package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/gate"
	"sluice/internal/mask"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// How often a process looks for drafts that are wanted, how long one may wait for its
// permits and calls, and how long what came of it may take to be stored.
const (
	draftEvery = 10 * time.Second
	draftLimit = 2 * time.Minute
	draftStore = 5 * time.Second
)

// draftTokens is the most that a vendor may write for one draft.
const draftTokens = 1200

// drafter asks vendors for the phrasings that operators wish for: one draft at a time, as
// work of a batch, so that no customer waits for it, and only while the load is at level 0.
type drafter struct {
	store   *queue.FAQStore
	granter granter
	model   llms.Model
	rules   func() *rules.Rules
	log     zerolog.Logger
}

// errNoPhrasings says that a vendor gave no answer at all.
var errNoPhrasings = errors.New("ask the model: it wrote nothing")

// granter is what a drafter asks for permits and for the load.
type granter interface {
	gate.Granter
	EndTurn(tenant, session, ticket string)
	Level(lane chat.Lane) (int, <-chan struct{})
}

func (d drafter) stage() stage {
	return stage{name: "drafts", run: func(ctx context.Context) error {
		for sleep(ctx, draftEvery) == nil {
			if !d.calm() {
				continue
			}
			if err := d.once(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn().Err(err).Str("stage", "faq").Msg("phrasings cannot be drafted")
			}
		}
		return nil
	}}
}

// calm reports whether no customer feels any load.
func (d drafter) calm() bool {
	for _, lane := range chat.Lanes() {
		if level, _ := d.granter.Level(lane); lane.Interactive() && level > 0 {
			return false
		}
	}
	return true
}

// once works on one draft, if there is one that nobody works on.
func (d drafter) once(ctx context.Context) error {
	stored, err := d.store.Note(ctx, queue.FAQDrafts)
	if err != nil {
		return err
	}
	all, err := faq.ReadDrafts(stored)
	if err != nil {
		return err
	}
	one, due := all.Due(time.Now())
	if !due {
		return nil
	}
	mine, err := d.take(ctx, one)
	if err != nil || !mine {
		return err
	}
	one.State, one.Phrasings = faq.DraftReady, nil
	entries, e, err := d.entry(ctx, one.Entry)
	if err == nil {
		one.Phrasings, err = d.draft(ctx, entries, e)
	}
	var refused *gate.Refusal
	switch {
	case len(one.Phrasings) > 0:
	case ctx.Err() != nil, errors.As(err, &refused), errors.Is(err, context.DeadlineExceeded):
		one.State = faq.DraftWanted // told to stop, or no room for it: another time
	default:
		one.State = faq.DraftFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), draftStore)
	defer cancel()
	if kept := d.keep(ctx, one); kept != nil {
		return kept
	}
	return err
}

// take marks a draft as worked on; false: somebody else was faster.
func (d drafter) take(ctx context.Context, want faq.Draft) (mine bool, err error) {
	err = d.change(ctx, func(all faq.Drafts) (faq.Drafts, error) {
		one, found := all.Find(want.Entry)
		if mine = found && one.State == want.State && one.At.Equal(want.At); !mine {
			return all, nil
		}
		one.State, one.At = faq.DraftWorking, time.Now().UTC()
		return all.Put(one)
	})
	return mine, err
}

// keep stores what came of a draft, unless it was dropped meanwhile.
func (d drafter) keep(ctx context.Context, one faq.Draft) error {
	one.At = time.Now().UTC()
	return d.change(ctx, func(all faq.Drafts) (faq.Drafts, error) {
		if _, found := all.Find(one.Entry); !found {
			return all, nil
		}
		return all.Put(one)
	})
}

func (d drafter) change(ctx context.Context, change func(faq.Drafts) (faq.Drafts, error)) error {
	return d.store.ChangeNote(ctx, queue.FAQDrafts, func(stored []byte) ([]byte, error) {
		all, err := faq.ReadDrafts(stored)
		if err == nil {
			all, err = change(all)
		}
		if err != nil {
			return nil, err
		}
		return all.Document()
	})
}

// entry reads the entries, and the one that phrasings are drafted for.
func (d drafter) entry(ctx context.Context, id string) ([]faq.Entry, faq.Entry, error) {
	now, err := loadList(ctx, d.store, d.rules().Knowledge.Shipped)
	if err != nil {
		return nil, faq.Entry{}, err
	}
	for _, e := range now.entries {
		if e.ID == id {
			return now.entries, e, nil
		}
	}
	return nil, faq.Entry{}, fmt.Errorf("draft phrasings of %s: %w", id, queue.ErrNotFound)
}

// draft asks once for each language in which the entry lacks phrasings. What comes before
// a failure is kept.
func (d drafter) draft(ctx context.Context, entries []faq.Entry, e faq.Entry) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, draftLimit)
	defer cancel()
	found := map[string][]string{}
	for _, language := range []string{chat.Chinese, chat.English} {
		room := e.DraftRoom(language)
		if room == 0 {
			continue
		}
		text, err := d.ask(ctx, e.DraftPrompt(language, room))
		if err != nil {
			return found, fmt.Errorf("draft phrasings of %s: %w", e.ID, err)
		}
		if all := faq.DraftPhrasings(text, entries, e, language, room); len(all) > 0 {
			found[language] = all
		}
	}
	return found, nil
}

// ask makes one call, with a permit that waits behind all others.
func (d drafter) ask(ctx context.Context, prompt string) (string, error) {
	chain := d.rules().Chains[rules.ChainRAG]
	now := time.Now()
	deadline, _ := ctx.Deadline()
	a := gate.Ask{
		Ticket: "draft-" + rand.Text(), Lane: chat.Batch, AcceptedAt: now, Deadline: deadline,
		Vendors: chain.Vendors, Model: chain.Model, Tokens: len(prompt)/3 + draftTokens,
	}
	permit, err := d.granter.Ask(ctx, a)
	if err != nil {
		return "", fmt.Errorf("wait for a permit: %w", err)
	}
	defer d.granter.EndTurn(a.Tenant, a.Session, a.Ticket)
	caller := gate.NewCaller(d.granter, a, permit)
	defer caller.Close()
	book := mask.New() // a phrasing may be what a customer wrote
	got, err := d.model.GenerateContent(gate.WithCaller(ctx, caller),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, book.Hide(prompt, true))}, llms.WithMaxTokens(draftTokens))
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	if len(got.Choices) == 0 {
		return "", errNoPhrasings
	}
	return book.Show(got.Choices[0].Content), nil
}
