package worker

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
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

// newMarkdown returns what reads a reply's Markdown: without blocks of HTML, so that the
// words between a model's tags stay words. The tags themselves are left out.
func newMarkdown() goldmark.Markdown {
	blocks := parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	)
	return goldmark.New(goldmark.WithParser(parser.NewParser(
		blocks,
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)))
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
	if err := w.markdown.Convert([]byte(markdown), &out); err != nil {
		return html.EscapeString(markdown)
	}
	return strings.TrimSpace(w.policy.Sanitize(out.String()))
}
