package rules

import (
	"testing"
	"time"
)

const embedders = `vendors:
  - {name: a, endpoints: [{url: http://a/v1}], models: {strong: s, light: l, embed: e}, quota: 4}
  - {name: b, endpoints: [{url: http://b/v1}], models: {strong: s, light: l, embed: other}, quota: 4}
knowledge: {embeddings: `

func TestEmbeddingsAreOffUntilAVendorIsNamed(t *testing.T) {
	t.Parallel()
	r, err := Parse("r.yaml", nil)
	if err != nil || r.Knowledge.Embeddings.On() {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = Parse("r.yaml", []byte(embedders+"{vendors: [a], dimensions: 256, batch: 32}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := r.Knowledge.Embeddings
	if !e.On() || e.Model != "embed" || e.Dimensions != 256 || e.Batch != 32 || e.Wait != 300*time.Millisecond {
		t.Errorf("%+v", e)
	}
}

func TestFaultsOfEmbeddingsNameTheirPlace(t *testing.T) {
	t.Parallel()
	const line = "r.yaml:4:"
	for text, want := range map[string]string{
		"{vendors: [c]}}":                 line + "36: knowledge.embeddings.vendors[0]: must be the name of a vendor, is \"c\"",
		"{vendors: [a, a]}}":              line + "39: knowledge.embeddings.vendors[1]: must not repeat \"a\"",
		"{vendors: [a], model: big}}":     line + "36: knowledge.embeddings.vendors[0]: must have the model \"big\", as knowledge.embeddings.model says",
		"{vendors: [a, b]}}":              line + "39: knowledge.embeddings.vendors[1]: must have the same model \"embed\" as the vendor before, which is \"e\", has \"other\"",
		"{vendors: [a], dimensions: -1}}": line + "40: knowledge.embeddings.dimensions: must be at least 0, is -1",
		"{batch: 0}}":                     line + "26: knowledge.embeddings.batch: must be at least 1, is 0",
		"{wait: 5s}}":                     line + "26: knowledge.embeddings.wait: must be at most 2s, is 5s",
	} {
		if _, err := Parse("r.yaml", []byte(embedders+text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
