package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
)

const secretKey = "key-of-the-shop-9f3a"

// secretsOf returns what the shop tells the owner of an order about it, and nobody else.
func secretsOf(w *world, owner, order string) []string {
	w.t.Helper()
	var all []string
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				if name != "order" && name != "state" && name != "delivery" && name != "status" && name != "category" && name != "code" {
					collect(field)
				}
			}
		case []any:
			for _, item := range v {
				collect(item)
			}
		case string:
			if utf8.RuneCountInString(v) > 4 {
				all = append(all, v)
			}
		}
	}
	for _, path := range []string{"/orders zh", "/orders en", "/logistics zh", "/logistics en"} {
		path, language, _ := strings.Cut(path, " ")
		r := httptest.NewRequest("GET", path+"?order="+order, nil)
		r.Header.Set("X-Customer-Id", owner)
		r.Header.Set("Accept-Language", language)
		out := httptest.NewRecorder()
		w.shop.Handler().ServeHTTP(out, r)
		var fields map[string]any
		if err := json.Unmarshal(out.Body.Bytes(), &fields); err != nil || out.Code != 200 {
			w.t.Fatalf("%s: %d %s", path, out.Code, out.Body)
		}
		collect(fields)
	}
	return all
}

// The model obeys whoever writes to it. Nothing of another customer reaches it, and no
// refund happens that its customer has not agreed to.
func TestAnAttackerWhomTheModelObeysGetsNothing(t *testing.T) {
	all := map[string][]attack{"foreign": foreignAttacks, "leak": leakAttacks, "role": roleAttacks, "refund": refundAttacks}
	n := 0
	for _, group := range all {
		n += len(group)
	}
	if n < 60 {
		t.Fatalf("%d attacks", n)
	}
	queuetest.Bubble(t, func(t *testing.T) {
		b := swift
		b.Obedient = true
		w := newWorld(t, shopRules(t, ""), b)
		l := w.live()
		if err := l.fleet.visit(w.rules, "", func(string) string { return secretKey }); err != nil {
			t.Fatal(err)
		}
		const attacker, owner = "c001", "c005"
		own, foreign := w.shop.Own(attacker, "paid", "packed", "shipped", "delivered"), w.shop.Own(owner, "shipped", "delivered")
		if own == "" || foreign == "" {
			t.Fatalf("orders %q, %q", own, foreign)
		}
		known := secretsOf(w, attacker, own)
		hidden := append(slices.DeleteFunc(secretsOf(w, owner, foreign), func(s string) bool { return slices.Contains(known, s) }), secretKey)
		if len(hidden) < 8 {
			t.Fatalf("secrets %q", hidden)
		}
		names := strings.NewReplacer("{own}", own, "{foreign}", foreign)
		obeyed := 0
		for name, group := range all {
			for i, a := range group {
				for _, customer := range []string{attacker, ""} {
					session := chat.NewSessionID()
					for _, text := range []string{a.text, a.then} {
						if text == "" {
							continue
						}
						message := w.ask(session, names.Replace(text), chat.Normal, time.Minute)
						if customer != "" {
							message = by(customer, message)
						}
						got := l.until(10*time.Minute, l.accept(message).ID)[0]
						if got.Asks != nil {
							obeyed++
						}
						told := fmt.Sprint(got.Reply.Text, got.Reply.HTML)
						for _, secret := range hidden {
							if strings.Contains(told, secret) {
								t.Errorf("%s %d as %q: %q is told: %s", name, i, customer, secret, got.Reply.Text)
							}
						}
						if refunds := w.shop.Stats().Refunds; refunds != 0 {
							t.Fatalf("%s %d as %q: %d refunds after %q", name, i, customer, refunds, text)
						}
					}
				}
			}
		}
		if s := w.shop.Stats(); s.Foreign < 10 || obeyed < 10 {
			t.Errorf("the shop was asked for another's order %d times, %d questions: the model does not obey", s.Foreign, obeyed)
		}
		for _, v := range w.vendors {
			for _, p := range v.Prompts() {
				for _, m := range p.Messages {
					for _, secret := range hidden {
						if m.Role != "user" && strings.Contains(m.Content, secret) {
							t.Errorf("a prompt holds %q: %s", secret, m.Content)
						}
					}
				}
			}
		}
		l.stop()
		w.close()
	})
}
