package rules

import (
	"slices"
	"testing"
)

func TestIntentsAreLaidOverTheShippedOnesByName(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", []byte(`
intents:
  - {name: rental, urgent: true, examples: [the van broke down], template: {zh: 租车, en: Rental}}
  - {name: invoice, examples: [send me the slip], template: {en: Own words}}
  - {name: promo, off: true}
  - {name: refund, urgent: false, patterns: [give back]}
`))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := Parse("default.yaml", Default())
	if err != nil {
		t.Fatal(err)
	}
	find := func(r *Rules, name string) *Intent {
		i := slices.IndexFunc(r.Intents, func(in Intent) bool { return in.Name == name })
		if i < 0 {
			return nil
		}
		return &r.Intents[i]
	}
	if len(r.Intents) != len(shipped.Intents) || find(r, "promo") != nil || find(r, "account") == nil || r.Intents[0].Name != "rental" {
		t.Errorf("intents: %+v", r.Intents)
	}
	invoice, before := find(r, "invoice"), find(shipped, "invoice")
	if !slices.Equal(invoice.Template["en"], Texts{"Own words"}) || !slices.Equal(invoice.Template["zh"], before.Template["zh"]) || !invoice.DeferSMS ||
		!slices.Equal(invoice.Patterns, before.Patterns) || !slices.Equal(invoice.Examples, []string{"send me the slip"}) {
		t.Errorf("invoice: %+v", invoice)
	}
	if slices.Equal(before.Template["en"], Texts{"Own words"}) {
		t.Error("the shipped rules have changed")
	}
	if refund := find(r, "refund"); refund.Urgent || !slices.Equal(refund.Patterns, []string{"give back"}) {
		t.Errorf("refund: %+v", refund)
	}
}
