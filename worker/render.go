package worker

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
)

// newPolicy returns what a reply's HTML may hold: text structure and links, no images,
// no styles, no raw HTML of the model's.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "strong", "em", "ul", "ol", "li", "code", "pre", "blockquote")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("mailto", "tel")
	for _, scheme := range []string{"http", "https"} {
		// https://shop.example@evil.example leads to another place than it seems to.
		p.AllowURLSchemeWithCustomPolicy(scheme, func(u *url.URL) bool { return u.User == nil && u.Host != "" })
	}
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// turns are marks that have text run the other way: they make a link look like another one.
var turns = strings.NewReplacer(
	"\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "",
)

// render turns a reply's Markdown into sanitised HTML. Text that cannot be rendered is
// shown as it is, escaped.
func (w *Worker) render(markdown string) string {
	markdown = turns.Replace(markdown)
	var out bytes.Buffer
	if err := goldmark.Convert([]byte(markdown), &out); err != nil {
		return html.EscapeString(markdown)
	}
	return strings.TrimSpace(w.policy.Sanitize(out.String()))
}
