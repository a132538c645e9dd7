package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

// onVendors is rules with several vendors, the agent's chain in that order.
func onVendors(rest string, names ...string) string {
	var vendors strings.Builder
	for _, name := range names {
		fmt.Fprintf(&vendors, "  - {name: %s, endpoints: [{url: \"http://%s/v1\"}], models: {strong: m}, headroom: 1, %s}\n", name, name, rest)
	}
	chain := strings.Join(names, ", ")
	return "vendors:\n" + vendors.String() + "chains:\n  agent: {vendors: [" + chain + "], model: strong}\n  rag: {vendors: [" + chain + "], model: strong}\n"
}

// calls returns how many calls have come to all vendors.
func (o *outage) calls() (n int) {
	for _, v := range o.vendors {
		n += v.Stats().Calls
	}
	return n
}

// Row 11 (BerriAI/litellm#7130, #7262; mpfaffenberger/code_puppy#317): the retries of a
// client multiplied with those of the gateway, up to 45 calls for one 429. Of customers'
// tickets at vendors that fail every call, each costs at most 1.1.
func TestVendorsThatFailEveryCallSeeAtMostElevenCallsForTenAnswers(t *testing.T) {
	const answers = 150
	for name, b := range map[string]sim.Behaviour{
		"500":   {ErrorShare: 1},
		"429":   {ErrorShare: 1, ErrorStatus: 429},
		"reset": {RefuseShare: 1},
	} {
		b.FirstToken, b.Call = brisk.FirstToken, brisk.Call
		inOutage(t, onVendors(`quota: 10, retry: {attempts: 10, permits: 1}, `+neverOpen, "a", "b", "c"), b, func(t *testing.T, o *outage) {
			nodes := []*life{o.join(), o.join()}
			var ids []string
			for i := range answers {
				ids = append(ids, nodes[i%2].accept(o.ask(fmt.Sprint("s", i), "Where is my order 1234?", chat.Normal, 5*time.Minute)).ID)
			}
			for _, ticket := range nodes[0].until(10*time.Minute, ids...) {
				if ticket.Route != chat.RouteTemplate || ticket.Attempts != 1 {
					t.Errorf("%s: ticket %+v, want the template at the first attempt", name, ticket)
				}
			}
			time.Sleep(time.Second)
			o.atRest(name)
			if n := o.calls(); n > answers*11/10 || n <= answers {
				t.Errorf("%s: %d calls for %d answers, want more than one each and at most 1.1", name, n, answers)
			}
		})
	}
}

// Row 12 (BerriAI/litellm#7669): retries went out at once, whatever Retry-After said. In
// each of its three forms no call comes to that account before, and whoever cannot wait
// that long has the lesser answer at once.
func TestNoCallComesBeforeRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		header func(h http.Header, now time.Time)
		wait   time.Duration
	}{
		"seconds":      {func(h http.Header, _ time.Time) { h.Set("Retry-After", "7") }, 7 * time.Second},
		"milliseconds": {func(h http.Header, _ time.Time) { h.Set("Retry-After-Ms", "6500") }, 6500 * time.Millisecond},
		"date": {func(h http.Header, now time.Time) {
			h.Set("Retry-After", now.Add(9*time.Second).UTC().Format(http.TimeFormat)) // to the second, so up to one less
		}, 8 * time.Second},
		"the latest of several": {func(h http.Header, _ time.Time) {
			h.Set("Retry-After-Ms", "900")
			h["Retry-After"] = []string{"6", "11"}
		}, 11 * time.Second},
	} {
		inOutage(t, onVendor(`quota: 1, `+neverOpen), brisk, func(t *testing.T, o *outage) {
			l := o.alone()
			refused := make(chan time.Time, 1)
			o.fronts["a"].replace(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
				o.fronts["a"].replace(nil)
				time.Sleep(time.Second)
				now := time.Now()
				refused <- now
				c.header(w.Header(), now)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			hit := l.accept(o.ask("s1", "Where is my order 1?", chat.Normal, time.Minute))
			time.Sleep(500 * time.Millisecond)
			waits := l.accept(o.ask("s2", "Where is my order 2?", chat.Normal, time.Minute))
			hurried := l.accept(o.ask("s3", "Where is my order 3?", chat.Normal, 4*time.Second))
			time.Sleep(2 * time.Second)
			late := l.accept(o.ask("s4", "Where is my order 4?", chat.Normal, 4*time.Second))
			ends := l.until(time.Minute, hit.ID, waits.ID, hurried.ID, late.ID)
			for i, want := range []struct {
				route  chat.Route
				reason chat.Reason
			}{
				{chat.RouteTemplate, chat.ReasonVendorUnavailable}, {chat.RouteAgent, ""},
				{chat.RouteTemplate, chat.ReasonVendorUnavailable}, {chat.RouteTemplate, chat.ReasonVendorUnavailable},
			} {
				if ends[i].Route != want.route || ends[i].Reason != want.reason {
					t.Errorf("%s: ticket %d went by %s for %q, want %s for %q", name, i+1, ends[i].Route, ends[i].Reason, want.route, want.reason)
				}
			}
			paused := <-refused
			if took := ends[2].EndedAt.Sub(paused); took > 300*time.Millisecond {
				t.Errorf("%s: who waited and could wait no longer was told %s after the 429", name, took)
			}
			if took := ends[3].EndedAt.Sub(ends[3].AcceptedAt); took > 100*time.Millisecond {
				t.Errorf("%s: who came later was told after %s", name, took)
			}
			came := o.fronts["a"].since(1)
			if len(came) != 1 || came[0].Sub(paused) < c.wait || came[0].Sub(paused) > c.wait+time.Second {
				t.Errorf("%s: calls came at %v after the 429, want one after %s", name, came, c.wait)
			}
			time.Sleep(time.Second)
			o.atRest(name)
		})
	}
}

// Row 20 (maximhq/bifrost#5876): one counter bounded both the retries at one account and
// the way to the next, so an answer failed while there were accounts that were well. The
// chain bounds the way to other vendors; the budget and the attempts bound the retries at
// the same one.
func TestTheWayToOtherVendorsIsAsLongAsTheChain(t *testing.T) {
	down := sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1, ErrorStatus: 503}
	inOutage(t, onVendors(`quota: 10, retry: {permits: 1}, `+neverOpen, "a", "b", "c", "d"), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		for range 60 { // saves six retries
			if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a", "b", "c"} {
			o.behave(name, down)
		}
		before := o.calls()
		asked := l.accept(o.ask("s1", "Where is my order 1234?", chat.Normal, 10*time.Second))
		got := l.until(time.Minute, asked.ID)[0]
		if got.Route != chat.RouteAgent || got.Vendor != "d" {
			t.Errorf("answered by %s of vendor %q, want the agent of vendor d: it is well", got.Route, got.Vendor)
		}
		if n := o.calls() - before; n > 4 {
			t.Errorf("%d calls at a chain of four vendors", n)
		}
		time.Sleep(time.Second)
		o.atRest("at the end")
	})
}

// Row 20, the other half: at a vendor that is alone the attempts bound the retries, however
// many are saved.
func TestRetriesAtTheSameVendorAreBoundedByTheAttempts(t *testing.T) {
	atGate(t, onVendor(`quota: 10, retry: {attempts: 3, permits: 1}, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		for range 60 {
			if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
				t.Fatal(err)
			}
		}
		o.behave("a", sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1})
		before := o.calls()
		if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err == nil {
			t.Error("a vendor that fails every call gave an answer")
		}
		if n := o.calls() - before; n != 3 {
			t.Errorf("%d calls, want 3", n)
		}
		time.Sleep(time.Second)
		o.atRest("at the end")
	})
}

// Row 28 (Wei-Shaw/sub2api#5451, #330): only the first turn of a conversation took a slot,
// the later ones went past the gate. With one permit, three conversations of three turns
// each are nine calls, one after the other.
func TestEachTurnOfAConversationTakesAPermit(t *testing.T) {
	inOutage(t, onVendor(`quota: 1, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		var ids []string
		for turn := range 3 {
			for session := range 3 {
				text := fmt.Sprintf("Question %d of session %d: where is my order?", turn, session)
				ids = append(ids, l.accept(o.ask(fmt.Sprint("s", session), text, chat.Normal, time.Minute)).ID)
			}
		}
		for _, ticket := range l.until(time.Minute, ids...) {
			if ticket.Route != chat.RouteAgent {
				t.Errorf("ticket %+v, want an answer", ticket)
			}
		}
		came := o.fronts["a"].since(0)
		for i := range came[1:] {
			if gap := came[i+1].Sub(came[i]); gap < 100*time.Millisecond {
				t.Errorf("call %d came %s after the one before, which takes 100ms", i+2, gap)
			}
		}
		if len(came) != 9 {
			t.Errorf("%d calls, want 9", len(came))
		}
		o.atRest("at the end")
	})
}

// Row 28 (Wei-Shaw/sub2api#991): after a failure in the middle of an answer another account
// began anew, and the customer read two answers spliced. What has reached the customer ends
// there: the vendor that is well is not asked, and the final event has the whole template.
func TestNoOtherVendorGoesOnWhereTheCustomerHasBegunToRead(t *testing.T) {
	for name, b := range map[string]sim.Behaviour{
		"broken off":              {TruncateShare: 1},
		"error inside the stream": {StreamErrorShare: 1},
		"silence":                 {StallShare: 1},
	} {
		b.FirstToken, b.Call = steady.FirstToken, steady.Call
		inOutage(t, onVendors(`quota: 10, retry: {attempts: 10, permits: 1}, timeouts: {gap: 2s}, `+neverOpen, "a", "b"), steady, func(t *testing.T, o *outage) {
			l := o.alone()
			for range 30 {
				if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var read []string
			stop, err := l.queue.Deltas(func(_, _ string, d chat.Delta) {
				mu.Lock()
				defer mu.Unlock()
				read = append(read, fmt.Sprint(d.Attempt, " ", d.I))
			})
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			o.behave("a", b)
			asked := l.accept(o.ask("s1", "Where is my order 1234?", chat.Normal, 10*time.Second))
			got := l.until(time.Minute, asked.ID)[0]
			if got.Route != chat.RouteTemplate || got.Reason != chat.ReasonVendorUnavailable || o.vendors["b"].Stats().Calls != 0 {
				t.Errorf("%s: went by %s for %q, vendor b has %d calls", name, got.Route, got.Reason, o.vendors["b"].Stats().Calls)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(read) == 0 || !slices.IsSorted(read) || slices.ContainsFunc(read, func(d string) bool { return !strings.HasPrefix(d, "1 ") }) {
				t.Errorf("%s: the customer read pieces %v, want those of the one attempt in their order", name, read)
			}
			events, _, _, err := l.queue.Events(t.Context(), "demo", "s1", 0, 100)
			if err != nil || len(events) != 2 || events[1].Text != got.Reply.Text {
				t.Errorf("%s: %v, %v: want the question and the template", name, fmtEvents(events), err)
			}
			time.Sleep(time.Second)
			o.atRest(name)
		})
	}
}
