package knowledge

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// fence stands before and after the head of a Markdown document.
const fence = "---\n"

// cut parts a text into its head, the lines between two fences at the beginning of a
// Markdown document, and its body. Other kinds have no head.
func (d Document) cut() (head, body string) {
	rest, found := strings.CutPrefix(d.Text, fence)
	if !found || path.Ext(d.Name) != ".md" {
		return "", d.Text
	}
	head, body, found = strings.Cut(rest, "\n"+fence)
	if !found {
		return "", d.Text // a rule, and no head
	}
	return head, body
}

// readHead takes from the head what we know: url is where customers may read the
// document. Everything else in it is left to who wrote it.
func (d *Document) readHead() error {
	head, _ := d.cut()
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if key != "url" {
			continue
		}
		address := strings.Trim(strings.TrimSpace(value), `"'`)
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("%s: url must be an http or https address without a user name, is %.100q: %w", d.Name, address, ErrBounds)
		}
		d.URL = u.String()
	}
	return nil
}
