package sim

import (
	"regexp"
	"slices"
	"strings"
)

var (
	orderNumber = regexp.MustCompile(`\b(?:[A-Za-z]{1,4}-?\d{3,24}|\d{5,24})\b`)
	phoneNumber = regexp.MustCompile(`^1[3-9]\d{9}$`)
	numbered    = regexp.MustCompile(`^\s*[\[【](\d{1,3})[\]】]\s*(\S.*)$`)
	asked       = regexp.MustCompile(`(?i)(?:^|\n)\s*(?:question|customer|user query|问题|客户问题|用户问题)\s*[:：]\s*`)
)

const maxOrders = 4

// question is what the model understands of a request: the newest user message, and what
// came before and after it.
type question struct {
	text    string
	lang    string
	earlier string   // the user message before it
	orders  []string // order numbers in it, else the newest one of earlier messages
	phone   string
	answers []string        // tool results since
	called  map[string]bool // tools called since
	sources []source        // numbered lines of the prompt, as retrieval writes them
}

// source is a numbered passage of a prompt.
type source struct {
	number string
	text   string
}

func understand(req chatRequest) question {
	q := question{called: map[string]bool{}}
	newest := -1
	for i, m := range req.Messages {
		if m.Role == "user" {
			newest = i
		}
	}
	for i, m := range req.Messages {
		switch {
		case m.Role == "user" && i == newest:
			q.text = asker(m.Content)
			q.sources = append(q.sources, sourcesIn(m.Content)...)
		case m.Role == "user" && len(sourcesIn(m.Content)) > 0: // a message of passages
			q.sources = append(q.sources, sourcesIn(m.Content)...)
		case m.Role == "user":
			q.earlier = asker(m.Content)
			if found := ordersIn(q.earlier); len(found) > 0 {
				q.orders = found[len(found)-1:]
			}
		case m.Role == "system" || m.Role == "developer":
			q.sources = append(q.sources, sourcesIn(m.Content)...)
		case i > newest && m.Role == "tool":
			q.answers = append(q.answers, m.Content)
		case i > newest:
			for _, c := range m.ToolCalls {
				q.called[c.Function.Name] = true
			}
		}
	}
	q.lang = languageOf(q.text)
	if found := ordersIn(q.text); len(found) > 0 {
		q.orders = found
	}
	for _, n := range orderNumber.FindAllString(q.text, -1) {
		if phoneNumber.MatchString(n) {
			q.phone = n
		}
	}
	return q
}

// asker cuts the customer's words out of a prompt that puts context before them.
func asker(content string) string {
	at := asked.FindAllStringIndex(content, -1)
	if len(at) > 0 {
		if rest := strings.TrimSpace(content[at[len(at)-1][1]:]); rest != "" {
			return rest
		}
	}
	return strings.TrimSpace(content)
}

func ordersIn(s string) []string {
	var out []string
	for _, n := range orderNumber.FindAllString(s, -1) {
		if !phoneNumber.MatchString(n) && !slices.Contains(out, n) && len(out) < maxOrders {
			out = append(out, n)
		}
	}
	return out
}

func sourcesIn(content string) []source {
	var out []source
	for line := range strings.Lines(content) {
		if m := numbered.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			out = append(out, source{number: m[1], text: strings.TrimSpace(m[2])})
		}
	}
	return out
}

// bestSource returns the passage that shares most with the question, if any shares enough.
func (q question) bestSource() (source, bool) {
	want := Embed(q.text, overlapDimensions)
	best, top := source{}, 0.12
	for _, p := range q.sources {
		if s := dot(want, Embed(p.text, overlapDimensions)); s > top {
			best, top = p, s
		}
	}
	return best, best.number != ""
}

// quote is the piece of the question that answers repeat.
func (q question) quote() string {
	return clip(strings.Join(strings.Fields(q.text), " "), 48)
}
