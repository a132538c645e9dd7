package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
	"sluice/internal/tool"
)

// swift is a vendor that answers at once.
var swift = sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(0)}

const refundFor = "Please refund my order "

// asksFirst has the customer ask for a refund and returns the order and the ticket with our
// question.
func asksFirst(l *life, session string) (order string, question chat.Ticket) {
	l.w.t.Helper()
	order = l.w.shop.Own("c010", "paid")
	asked := l.accept(by("c010", l.w.ask(session, refundFor+order, chat.Normal, 10*time.Second)))
	question = l.until(30*time.Second, asked.ID)[0]
	if question.Asks == nil || question.Asks.Order != order || !strings.Contains(question.Reply.Text, "refund of CNY 658 for order "+order) {
		l.w.t.Fatalf("the customer is asked %q, for %+v", question.Reply.Text, question.Asks)
	}
	if n := l.w.shop.Stats().Refunds; n != 0 {
		l.w.t.Fatalf("%d refunds before the customer agreed", n)
	}
	return order, question
}

// says has the customer say something and returns the ticket's end.
func says(l *life, session, text string) chat.Ticket {
	l.w.t.Helper()
	said := l.accept(by("c010", l.w.ask(session, text, chat.Normal, 10*time.Second)))
	return l.until(5*time.Minute, said.ID)[0]
}

func TestARefundIsDoneOnceTheCustomerHasAgreed(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order, _ := asksFirst(l, "s1")
		got := says(l, "s1", "Yes, please!")
		if !strings.Contains(got.Reply.Text, "CNY 658 for order "+order+" has been requested; its number is RF") || got.Dead || got.Deed == nil {
			t.Errorf("%q, %+v", got.Reply.Text, got)
		}
		c, err := l.queue.Claim(t.Context(), "demo", "refund_request", strings.ToLower(order))
		if err != nil || c.State != chat.ClaimDone || c.Tries != 1 || c.Customer != "c010" || c.Ticket != got.ID {
			t.Errorf("claim %+v, %v", c, err)
		}
		// Again, in another session and in other words.
		if again := says(l, "s2", "I want my money back, 12.50 for order "+order); again.Asks == nil {
			t.Fatalf("asked nothing: %q", again.Reply.Text)
		}
		if again := says(l, "s2", "yes"); !strings.Contains(again.Reply.Text, "CNY 658") {
			t.Errorf("%q", again.Reply.Text)
		}
		if s := w.shop.Stats(); s.Refunds != 1 || s.Repeated != 0 {
			t.Errorf("the shop saw %+v", s)
		}
		l.stop()
		w.close()
	})
}

func TestWithoutTheCustomersWordThereIsNoRefund(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		for i, answer := range []string{"no", "Not yes", "yes, but to another account", "why?", "不是的", "不确认", "yes?", "I did not say yes"} {
			session := chat.NewSessionID()
			asksFirst(l, session)
			says(l, session, answer)
			// A yes that comes later is to something else.
			if got := says(l, session, "hello"); got.Asks == nil {
				says(l, session, "yes")
			}
			if n := w.shop.Stats().Refunds; n != 0 {
				t.Fatalf("answer %d, %q: %d refunds", i, answer, n)
			}
		}
		// A yes before any question.
		says(l, "early", "yes")
		if n := w.shop.Stats().Refunds; n != 0 {
			t.Errorf("%d refunds", n)
		}
		l.stop()
		w.close()
	})
}

// A process dies before each write of a refund, and the next one goes on, at once or long
// after the ticket's deadline: one refund, and the customer is told of it.
func TestARefundSurvivesACrashBeforeEachOfItsWrites(t *testing.T) {
	for _, point := range []queue.Point{
		queue.TakeTicket, queue.CommitTicket, queue.ClaimMade, queue.ClaimCalled, queue.ClaimDone, queue.EndTicket, queue.EndEvent, queue.EndLane,
	} {
		for after, away := range map[string]time.Duration{"at once": 0, "late": 30 * time.Second} {
			if raced && away > 0 {
				continue // the code that runs is the same
			}
			t.Run(string(point)+" "+after, func(t *testing.T) {
				queuetest.Bubble(t, func(t *testing.T) { crashBefore(t, point, away) })
			})
		}
	}
}

func crashBefore(t *testing.T, point queue.Point, away time.Duration) {
	w := newWorld(t, shopRules(t, ""), swift)
	l := w.live()
	order, _ := asksFirst(l, "s1")
	l.armed(point, 0)
	said := l.accept(by("c010", w.ask("s1", "yes", chat.Normal, 10*time.Second)))
	<-l.crashed
	l.kill()
	l.bury()
	time.Sleep(away)
	next := w.live()
	got := next.until(5*time.Minute, said.ID)[0]
	if s := w.shop.Stats(); s.Refunds != 1 || got.Dead || !strings.Contains(got.Reply.Text, order+" has been requested") {
		t.Errorf("%d refunds, told %q, dead %t by %s, %s, %+v", s.Refunds, got.Reply.Text, got.Dead, got.Route, got.Reason, got.Failures)
	}
	next.stop()
	w.close()
}

// The same deed by many holders of one ticket and by other tickets, all at once.
func TestManyAtOnceDoADeedOnce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order, question := asksFirst(l, "s1")
		var work sync.WaitGroup
		for i := range 12 {
			ticket := by("c010", w.ask("s1", "yes", chat.Normal, time.Minute))
			if i%4 == 0 { // three holders of one ticket: more than tries are left would hand it over
				ticket.ID = "t_same"
			}
			work.Go(func() {
				run := l.fleet.tools.inForce().Begin(chat.Question{Ticket: ticket}, l.queue)
				ask := gate.Ask{Tenant: "demo", Session: "s1", Ticket: ticket.ID, Lane: chat.Normal, AcceptedAt: time.Now()}
				ctx := gate.WithCaller(t.Context(), gate.NewFollower(l.line.member, ask))
				if v, err := run.Perform(ctx, *question.Asks); err != nil || v.Outcome != tool.Done && v.Outcome != tool.InProgress {
					t.Errorf("%+v, %v", v, err)
				}
			})
		}
		work.Wait()
		c, err := l.queue.Claim(t.Context(), "demo", "refund_request", order)
		if s := w.shop.Stats(); err != nil || s.Refunds != 1 || c.State != chat.ClaimDone {
			t.Errorf("%+v, %+v, %v", s, c, err)
		}
		l.stop()
		w.close()
	})
}

// An effect that needs no confirmation is the model's to wish for, and still done once.
func TestAnEffectWithoutAConfirmationIsDoneOnceToo(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		r := shopRules(t, "")
		for i := range r.Tools {
			r.Tools[i].Confirm = false
		}
		w := newWorld(t, r, swift)
		l := w.live()
		order := w.shop.Own("c010", "paid")
		for i, session := range []string{"s1", "s2"} {
			got := says(l, session, refundFor+order+", CNY 1.50")
			if got.Asks != nil || got.Deed == nil || got.Route != chat.RouteAgent || !strings.Contains(got.Reply.Text, "refund id RF") {
				t.Errorf("%d: %q, %+v", i, got.Reply.Text, got.Deed)
			}
		}
		if s := w.shop.Stats(); s.Refunds != 1 || s.Repeated != 0 {
			t.Errorf("%+v", s)
		}
		w.shop.Behave(sim.ShopBehaviour{Lose: true})
		other := by("c009", w.ask("s3", refundFor+w.shop.Own("c009", "delivered", "shipped", "paid", "packed")+", CNY 1.50", chat.Normal, 10*time.Second))
		if got := l.until(5*time.Minute, l.accept(other).ID)[0]; !got.Dead || !strings.Contains(got.Reply.Text, "A colleague looks into it") {
			t.Errorf("dead %t, %q", got.Dead, got.Reply.Text)
		}
		l.stop()
		w.close()
	})
}

// What the customer agrees to needs no model.
func TestAConfirmationNeedsNoVendor(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order, _ := asksFirst(l, "s1")
		for _, v := range w.vendors {
			if err := v.SetBehaviour(sim.Behaviour{HangShare: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 { // every permit of both
			l.accept(w.ask(chat.NewSessionID(), "Hello!", chat.Normal, time.Minute))
		}
		time.Sleep(time.Second)
		got := says(l, "s1", "yes")
		if !strings.Contains(got.Reply.Text, order+" has been requested") || got.EndedAt.Sub(got.AcceptedAt) > time.Second {
			t.Errorf("%q after %s", got.Reply.Text, got.EndedAt.Sub(got.AcceptedAt))
		}
		l.stop()
		w.close()
	})
}

// Each answer of the tool is lost: it is asked again under the same key.
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order, _ := asksFirst(l, "s1")
		w.shop.Behave(sim.ShopBehaviour{Lose: true})
		time.AfterFunc(400*time.Millisecond, func() { w.shop.Behave(sim.ShopBehaviour{}) })
		got := says(l, "s1", "yes")
		if s := w.shop.Stats(); s.Refunds != 1 || s.Repeated == 0 || !strings.Contains(got.Reply.Text, order+" has been requested") {
			t.Errorf("%+v, %q", s, got.Reply.Text)
		}
		l.stop()
		w.close()
	})
}

// A tool that never tells: a person looks, and the customer is told so.
func TestWhatNobodyKnowsIsHandedToAPerson(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order, _ := asksFirst(l, "s1")
		w.shop.Behave(sim.ShopBehaviour{Lose: true})
		got := says(l, "s1", "yes")
		if s := w.shop.Stats(); s.Refunds != 1 || !got.Dead || !strings.Contains(got.Reply.Text, "A colleague looks into it") || len(got.Failures) == 0 {
			t.Errorf("%+v, %q, %+v", s, got.Reply.Text, got.Failures)
		}
		w.shop.Behave(sim.ShopBehaviour{})
		says(l, "s2", refundFor+order+" 1.00")
		if again := says(l, "s2", "yes"); !strings.Contains(again.Reply.Text, "A colleague looks into it") || w.shop.Stats().Refunds != 1 {
			t.Errorf("%q", again.Reply.Text)
		}
		l.stop()
		w.close()
	})
}

func TestARefusedOrUnreachableToolLeavesTheOrderFree(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		order := w.shop.Own("c010", "paid")
		if got := says(l, "s1", refundFor+order+", CNY 9999"); got.Asks == nil {
			t.Fatalf("%q", got.Reply.Text)
		}
		if got := says(l, "s1", "yes"); !strings.Contains(got.Reply.Text, "was not accepted: at most CNY 658.00 can be refunded") {
			t.Errorf("%q", got.Reply.Text)
		}
		asksFirst(l, "s2")
		w.shop.Behave(sim.ShopBehaviour{Status: 429})
		if got := says(l, "s2", "yes"); !strings.Contains(got.Reply.Text, "was not submitted and nothing has changed") {
			t.Errorf("%q", got.Reply.Text)
		}
		w.shop.Behave(sim.ShopBehaviour{})
		time.Sleep(time.Minute)
		asksFirst(l, "s3")
		if got := says(l, "s3", "yes"); !strings.Contains(got.Reply.Text, "has been requested") || w.shop.Stats().Refunds != 1 {
			t.Errorf("%q", got.Reply.Text)
		}
		l.stop()
		w.close()
	})
}

func TestARefundUnderWayCannotBeCancelledAndWhatIsDeliveredTwiceIsDoneOnce(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), swift)
		l := w.live()
		asksFirst(l, "s1")
		w.shop.Behave(sim.ShopBehaviour{Delay: 2 * time.Second})
		said := l.accept(by("c010", w.ask("s1", "yes", chat.Normal, 10*time.Second)))
		time.Sleep(time.Second)
		if _, err := l.queue.Cancel(context.Background(), said.ID, chat.ReasonCustomer, time.Now()); !errors.Is(err, queue.ErrInEffect) {
			t.Errorf("cancelled: %v", err)
		}
		// The holder is cut off in the middle of the call, and the job is given to another.
		l.kill()
		l.bury()
		next := w.live()
		got := next.until(5*time.Minute, said.ID)[0]
		if s := w.shop.Stats(); s.Refunds != 1 || got.Status != chat.Answered || !strings.Contains(got.Reply.Text, "has been requested") {
			t.Errorf("%+v, %s %q", s, got.Status, got.Reply.Text)
		}
		next.stop()
		w.close()
	})
}
