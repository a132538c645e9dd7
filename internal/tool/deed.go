package tool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/internal/chat"
)

// Claims keep a deed from being done twice. The queue is one.
type Claims interface {
	// Claim reads the claim of a deed; one that nobody has made is free.
	Claim(ctx context.Context, tenant, tool, order string) (chat.Claim, error)
	// SetClaim writes it over the revision that was read.
	SetClaim(ctx context.Context, c chat.Claim) (chat.Claim, error)
}

// How often a deed is tried before a person has to look, and the pause before another try,
// which doubles.
const (
	mostTries = 5
	tryAgain  = 250 * time.Millisecond
)

// writes is how often a claim is read again because somebody else has written it.
const writes = 10

// Outcome is what came of a deed.
type Outcome int

// The outcomes.
const (
	Done       Outcome = iota // now, or by an earlier ticket
	Refused                   // the tool said no
	Busy                      // the tool could not be called: nothing was done
	InProgress                // another ticket is at it
	Handed                    // nobody knows: a person has to look
)

// Verdict is what came of a deed, and what is told of it.
type Verdict struct {
	Outcome Outcome
	Claim   chat.Claim
	answer  json.RawMessage // of the tool that said no
	earlier bool            // another ticket had it done
}

// errNoClaims says that this process may do nothing that cannot be undone.
var errNoClaims = errors.New("there is nowhere to claim a deed")

// deedOf makes a deed of arguments that fit the tool.
func deedOf(t *known, arguments map[string]any) (chat.Deed, error) {
	order, _ := arguments[argumentOrder].(string)
	text, err := json.Marshal(arguments)
	if err != nil {
		return chat.Deed{}, fmt.Errorf("encode the arguments of %s: %w", t.Name, err)
	}
	return chat.Deed{Tool: t.Name, Order: strings.ToUpper(strings.TrimSpace(order)), Arguments: text}, nil
}

const argumentOrder = "order"

// Perform does a deed once, however often and by whomever it is performed: it is claimed
// for its order, and each call carries the claim's id. The ticket must be committed to it.
// An error says that nobody knows how far it came: perform it again.
func (r *Run) Perform(ctx context.Context, deed chat.Deed) (Verdict, error) {
	t := r.set.named(deed.Tool)
	if r.claims == nil {
		return Verdict{}, errNoClaims
	}
	if t == nil || !t.Effect {
		return Verdict{Outcome: Handed, Claim: chat.Claim{Deed: deed}}, nil // the rules have it no more
	}
	var fault error
	for range writes {
		c, err := r.claims.Claim(ctx, r.question.Ticket.Tenant, deed.Tool, deed.Order)
		if err != nil {
			return Verdict{}, err
		}
		switch c.State {
		case chat.ClaimDone:
			return Verdict{Outcome: Done, Claim: c, earlier: c.Ticket != r.question.Ticket.ID}, nil
		case chat.ClaimHanded:
			return Verdict{Outcome: Handed, Claim: c}, nil
		case chat.Claimed, chat.ClaimCalled:
			if c.Ticket != r.question.Ticket.ID {
				return Verdict{Outcome: InProgress, Claim: c}, nil
			}
		case chat.ClaimFree, chat.ClaimRefused:
			c = chat.Claim{
				ID: rand.Text(), State: chat.Claimed, Tenant: r.question.Ticket.Tenant, Deed: deed,
				Customer: r.customer(), Ticket: r.question.Ticket.ID, At: time.Now().UTC(), Rev: c.Rev,
			}
			if c, err = r.claims.SetClaim(ctx, c); err != nil {
				fault = err
				continue
			}
		}
		v, err := r.see(ctx, t, c)
		if err == nil {
			return v, nil
		}
		if fault = err; ctx.Err() != nil {
			return Verdict{}, context.Cause(ctx)
		}
	}
	return Verdict{}, fault
}

// see calls the tool under a claim of this ticket until it is known what came of it, or
// until it was tried often enough.
func (r *Run) see(ctx context.Context, t *known, c chat.Claim) (Verdict, error) {
	var arguments map[string]any
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
		return Verdict{}, fmt.Errorf("decode the arguments of %s: %w", t.Name, err)
	}
	end := func(state chat.ClaimState, outcome Outcome, body json.RawMessage) (Verdict, error) {
		if c.State = state; state == chat.ClaimDone {
			c.Result = json.RawMessage(r.masked(string(body)))
		}
		var err error
		c, err = r.claims.SetClaim(ctx, c)
		return Verdict{Outcome: outcome, Claim: c, answer: body}, err
	}
	pause := tryAgain
	for c.Tries < mostTries {
		c.State = chat.ClaimCalled
		c.Tries++
		var err error
		if c, err = r.claims.SetClaim(ctx, c); err != nil {
			return Verdict{}, err
		}
		got := r.reach(ctx, t, request{arguments: arguments, claim: c.ID})
		if ctx.Err() != nil {
			return Verdict{}, context.Cause(ctx)
		}
		first := c.Tries == 1
		switch {
		case got.state == good:
			return end(chat.ClaimDone, Done, got.body)
		case got.state == refused && first:
			return end(chat.ClaimRefused, Refused, got.body)
		case got.state == busy && first:
			return end(chat.ClaimRefused, Busy, nil)
		case got.state == refused: // an earlier call may have been heard: who says no now proves nothing
			return end(chat.ClaimHanded, Handed, nil)
		}
		if err := wait(ctx, pause); err != nil {
			return Verdict{}, err
		}
		pause *= 2
	}
	return end(chat.ClaimHanded, Handed, nil)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
