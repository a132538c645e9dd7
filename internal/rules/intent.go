package rules

import (
	"fmt"
	"slices"
)

// completeIntents lays the document's intents over the shipped ones by name. Those of
// the document come first, each in its place, so that faults show where it stands.
func (d *document) completeIntents(rules *Rules, shipped []Intent) {
	named := func(name string) func(Intent) bool {
		return func(in Intent) bool { return in.Name == name }
	}
	for i := range rules.Intents {
		if k := slices.IndexFunc(shipped, named(rules.Intents[i].Name)); k >= 0 {
			d.completeIntent(fmt.Sprintf("intents[%d]", i), &rules.Intents[i], shipped[k])
		}
	}
	for _, in := range shipped {
		if !slices.ContainsFunc(rules.Intents, named(in.Name)) {
			rules.Intents = append(rules.Intents, in)
		}
	}
}

// completeIntent fills in the fields that the document does not give.
func (d *document) completeIntent(path string, in *Intent, shipped Intent) {
	given := func(field string) bool { _, is := d.at[path+"."+field]; return is }
	if !given("urgent") {
		in.Urgent = shipped.Urgent
	}
	if !given("defer_sms") {
		in.DeferSMS = shipped.DeferSMS
	}
	if !given("patterns") {
		in.Patterns = shipped.Patterns
	}
	for lang, texts := range shipped.Template {
		if given("template." + lang) {
			continue
		}
		if in.Template == nil {
			in.Template = map[string]Texts{}
		}
		in.Template[lang] = texts
	}
}
