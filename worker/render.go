package worker

import (
	"bytes"
	"html"
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
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}

// render turns a reply's Markdown into sanitised HTML. Text that cannot be rendered is
// shown as it is, escaped.
func (w *Worker) render(markdown string) string {
	var out bytes.Buffer
	if err := goldmark.Convert([]byte(markdown), &out); err != nil {
		return html.EscapeString(markdown)
	}
	return strings.TrimSpace(w.policy.Sanitize(out.String()))
}
