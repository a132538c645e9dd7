//go:build browser

package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/golang-jwt/jwt/v5"
)

const identitySecret = "a secret of the tests alone, long enough"

// identity signs who a visitor is.
func identity(t *testing.T, sub string, life time.Duration) string {
	t.Helper()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: sub, Audience: jwt.ClaimStrings{"demo"}, ExpiresAt: jwt.NewNumericDate(time.Now().Add(life)),
	}).SignedString([]byte(identitySecret))
	must(t, err)
	return signed
}

// TestVisitorsOfOneBrowserShareNothing: one leaves, another comes, in the same page and
// after a reload.
func TestVisitorsOfOneBrowserShareNothing(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	module := "import(" + quoted(st.url+"/widget.js") + ")"
	update := func(sub string, life time.Duration) {
		outside[bool](b, fmt.Sprintf("%s.then((chat) => chat.update({identity: %s}))", module, quoted(identity(t, sub, life))))
	}
	url := st.shop("", "")
	b.do(chromedp.Navigate(url))
	boot := func(sub string) {
		outside[bool](b, fmt.Sprintf("%s.then((chat) => chat.boot({key: %s, locale: 'en', open: true, identity: %s}))", module, quoted(st.key), quoted(identity(t, sub, time.Minute))))
		b.until("the connection", online)
	}
	boot("ann")
	b.write("The secret of Ann")
	r := st.next()
	if r.stored.Customer == nil || r.stored.Customer.ID != "ann" {
		t.Errorf("the ticket's customer is %v", r.stored.Customer)
	}
	st.answer(r, "Kept.", "<p><strong>Kept.</strong></p>", "en")
	b.until("the answer", `this.querySelector(".row.bot strong")`)

	update("ann", 2*time.Minute)
	if b.count(".row.own") != 1 {
		t.Error("a newer token of the same visitor has cost the conversation")
	}
	update("bob", time.Minute)
	b.until("an empty conversation", `!this.querySelector(".row.own") && `+online)
	b.write("The secret of Bob")
	second := st.next()
	if second.stored.Session == r.stored.Session || second.stored.Customer == nil || second.stored.Customer.ID != "bob" {
		t.Errorf("bob's ticket is of session %s, customer %v", second.stored.Session, second.stored.Customer)
	}
	b.do(chromedp.Reload())
	boot("ann")
	if got := b.said(); got != "" {
		t.Errorf("ann comes back and reads %s", got)
	}
	if kept := outside[string](b, "JSON.stringify(localStorage)"); strings.Contains(kept, "bob") || strings.Contains(kept, second.stored.Session) {
		t.Errorf("bob is still in the storage: %s", kept)
	}
	outside[bool](b, module+".then((chat) => chat.shutdown({forget: true}))")
	if kept := outside[int](b, "localStorage.length"); kept != 0 {
		t.Errorf("%d entries are left after the logout", kept)
	}
}
