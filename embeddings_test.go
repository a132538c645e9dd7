package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// embedRules have vectors of a model, and are busy: what is not urgent is answered from the
// knowledge.
func embedRules(t *testing.T, embeddings string) string {
	t.Helper()
	return strings.ReplaceAll(smallRules, "{strong: m}", "{strong: m, embed: small, large: large}") +
		"knowledge: {shipped: true, embeddings: {" + embeddings + "}}\nvalve: {shadow: 0, force: {level: 1, until: 2100-01-01T00:00:00Z}}\n"
}

const small = "vendors: [a], dimensions: 64, batch: 20"

// texts returns what vectors were asked for, call by call.
func (w *world) texts(vendor string) (all []string, calls int) {
	for _, p := range w.vendors[vendor].Prompts() {
		if p.Inputs != nil {
			all, calls = append(all, p.Inputs...), calls+1
		}
	}
	return all, calls
}

// finds waits until the knowledge is found by meaning in a space, in its newest version.
func (l *life) finds(space string) {
	l.w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		v, err := l.queue.Knowledge(l.w.t.Context())
		if now := l.books.now.Load(); err != nil || now == nil || now.rev != v.Rev {
			continue
		}
		if k := l.line.embeddings.live.knowledge(); k.Near != nil && k.Near.Space == space {
			return
		}
	}
	l.w.t.Fatalf("nothing is found in space %q", space)
}

func TestVectorsPassTheGateMaskedAndAreInNobodysWay(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, embedRules(t, small)), swift)
		entries, err := faq.Shipped()
		if err != nil {
			t.Fatal(err)
		}
		w.faqs = newFAQs(nil, nil, nil, nil, zerolog.Nop())
		w.faqs.stored.Store(&storedList{rev: 1, entries: entries[:4]})
		l := w.live()
		l.finds("small 64")
		const phone, mail = "13912345678", "li.lei@example.com"
		l.reader().changes(map[string]string{"desk.md": "# Repairs\n\nAsk Li Lei, " + phone + " or " + mail + ", about a repair.\n"})
		l.reader().publishes()
		time.Sleep(2 * time.Second)
		l.finds("small 64")

		asked := l.accept(w.ask("s1", "my phone is "+phone+", who repairs a broken thing?", chat.Normal, 10*time.Second))
		if got := l.until(20*time.Second, asked.ID)[0]; got.Route != chat.RouteRAG {
			t.Errorf("%s: %s", got.Route, got.Reply.Text)
		}
		texts, calls := w.texts("a")
		all := strings.Join(texts, "\n")
		if strings.Contains(all, phone) || strings.Contains(all, mail) || !strings.Contains(all, "Li Lei, [PHONE_1] or [MAIL_1]") ||
			!strings.Contains(all, "my phone is [PHONE_1], who repairs") {
			t.Error("what tells of a person reached a vendor, or nothing did")
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(texts))); len(unique) != len(texts) {
			t.Errorf("%d texts were paid for, %d are different", len(texts), len(unique))
		}
		if s := w.vendors["a"].Stats(); s.Refused != 0 || s.MaxInFlight > 4 || s.Invalid != 0 {
			t.Errorf("%+v", s)
		}
		e, m := l.line.embeddings, &chat.Ticket{Tenant: "demo", Lane: chat.Normal, Message: "what is the depth of the sofa?"}
		if v := e.vector(m, "small 64"); len(v) != 64 || e.vector(m, "small 64") == nil || e.vector(m, "other 64") != nil {
			t.Errorf("a vector of %d dimensions", len(v))
		}
		if _, more := w.texts("a"); more != calls+1 {
			t.Errorf("%d calls for one question", more-calls)
		}
		l.learnsNear(t)
		l.staysAway(t, m)
		l.wantNoPermits("at rest")
		l.stop()
		w.close()
	})
}

// learnsNear shows that the FAQ learns with its vectors, and is asked with those of questions.
func (l *life) learnsNear(t *testing.T) {
	t.Helper()
	f := l.w.faqs
	for range 100 {
		if f.near.Load() != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.learn(t.Context(), nil)
	if base := f.base(); base == nil || base.Calibration().Near == nil && base.Space() != "" {
		t.Errorf("%+v", base)
	}
	if now := f.inForce.Load(); now == nil || now.near == nil || now.near.space.id() != "small 64" {
		t.Error("the FAQ was learnt without vectors")
	}
}

// staysAway shows that under load no call is made, for a question or for an import, while
// what is at hand is used.
func (l *life) staysAway(t *testing.T, known *chat.Ticket) {
	t.Helper()
	_, before := l.w.texts("a")
	e, err := newEmbeddings(l.queue, l.line.embeddings.live, l.fleet.model, &pressed{l.line.member, crowded}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer e.asked.Close()
	if v := e.vector(known, "small 64"); v != nil {
		t.Error("a question got a vector under load")
	}
	want, _ := spaceOf(l.w.rules)
	want.name = "another"
	if err := e.keepBooks(t.Context(), want); !errors.Is(err, errCrowded) {
		t.Errorf("an import under load: %v", err)
	}
	if _, after := l.w.texts("a"); after != before {
		t.Errorf("%d calls under load", after-before)
	}
}

func TestAnotherModelTakesOverWhole(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		slow := sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Fixed(200 * time.Millisecond)}
		w := newWorld(t, testRules(t, embedRules(t, small)), slow)
		l := w.live()
		l.finds("small 64")
		in := l.line.embeddings.live
		next, err := build(2, testRules(t, embedRules(t, "vendors: [a], model: large, dimensions: 32, batch: 20")), nil)
		if err != nil {
			t.Fatal(err)
		}
		in.force(next)
		in.hooks[len(in.hooks)-1](next.rules)
		m := &chat.Ticket{Tenant: "demo", Lane: chat.Normal, Message: "how loud is the blender?"}
		var chats []string
		for range 12 { // beside the import
			chats = append(chats, l.accept(w.ask(chat.NewSessionID(), "quantum chromodynamics lectures tonight?", chat.Normal, 20*time.Second)).ID)
		}
		var spaces []string
		dimensions := map[string]int{"small 64": 64, "large 32": 32}
		for end := time.Now().Add(time.Minute); time.Now().Before(end) && !slices.Contains(spaces, "large 32"); time.Sleep(100 * time.Millisecond) {
			near := in.knowledge().Near
			if near == nil {
				t.Error("nothing serves while another model is on its way")
				break
			}
			if len(spaces) == 0 || spaces[len(spaces)-1] != near.Space {
				spaces = append(spaces, near.Space)
			}
			v := l.line.embeddings.vector(m, near.Space)
			if v == nil {
				continue // behind the chats there was no permit in time
			}
			found, err := near.Nearest(t.Context(), v, 3)
			if len(v) != dimensions[near.Space] || len(found) != 3 || err != nil {
				t.Errorf("in %s a vector of %d dimensions finds %d passages, %v", near.Space, len(v), len(found), err)
			}
		}
		if !slices.Equal(spaces, []string{"small 64", "large 32"}) {
			t.Errorf("served by %q", spaces)
		}
		for _, got := range l.until(time.Minute, chats...) {
			if got.Route != chat.RouteAgent {
				t.Errorf("a chat beside the import: %s, %s", got.Route, got.Reason)
			}
		}
		if s := w.vendors["a"].Stats(); s.MaxInFlight > 4 || s.Refused != 0 {
			t.Errorf("%+v", s)
		}
		l.wantNoPermits("at rest")
		l.stop()
		w.close()
	})
}

// A vendor that gives no vectors costs one question its wait, and no chat anything.
func TestAVendorWithoutVectorsLeavesWords(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, embedRules(t, small+", wait: 100ms")), swift)
		l := w.live()
		l.finds("small 64")
		if err := w.vendors["a"].SetBehaviour(sim.Behaviour{FirstToken: sim.Fixed(time.Hour), Call: sim.Fixed(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		_, before := w.texts("a")
		for i, text := range []string{"how loud is it?", "how tall is it?", "how long is it?"} {
			begun := time.Now()
			v := l.line.embeddings.vector(&chat.Ticket{Tenant: "demo", Lane: chat.Normal, Message: text}, "small 64")
			took, want := time.Since(begun), time.Duration(0)
			if i == 0 {
				want = 100 * time.Millisecond
			}
			if v != nil || took != want {
				t.Errorf("%q waits %s for %d dimensions, want %s", text, took, len(v), want)
			}
		}
		if _, after := w.texts("a"); after != before+1 {
			t.Errorf("%d calls", after-before)
		}
		if known := l.line.worker.Knows(&chat.Ticket{Tenant: "demo", Message: "what does error E2 mean on my blender?", Language: chat.English, Lane: chat.Normal}); !known {
			t.Error("words alone find nothing")
		}
		time.Sleep(askedLimit + time.Second)
		l.wantNoPermits("after the call was given up")
		if s := l.state("a"); s != "closed" {
			t.Errorf("the breaker is %s", s)
		}
		l.stop()
		w.close()
	})
}

func TestAKilledImportGoesOnWithoutPayingTwice(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, embedRules(t, small)), swift)
		l := w.live()
		l.armed(queue.VectorKeep, 50)
		<-l.crashed
		l.kill()
		l.bury()
		before, _ := w.texts("a")
		l = w.live()
		l.finds("small 64")
		all, _ := w.texts("a")
		unique := slices.Compact(slices.Sorted(slices.Values(all)))
		if len(before) != 60 || len(all) != len(unique)+10 { // of the third batch ten were not kept
			t.Errorf("%d texts before the kill, %d in all, %d different", len(before), len(all), len(unique))
		}
		l.wantNoPermits("at rest")
		l.stop()
		w.close()
	})
}
