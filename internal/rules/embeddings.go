package rules

import (
	"fmt"
	"slices"
	"time"
)

// Embeddings says who gives texts their vectors, and how questions get theirs.
type Embeddings struct {
	// Vendors give vectors, the first choice first; without repeats. Each has Model, and by
	// one name: vectors of two models cannot be compared. Empty, the default: nobody does.
	Vendors []string `yaml:"vendors"`
	// Model is our word for the model, as in a chain. Defaults to "embed".
	Model string `yaml:"model"`
	// Dimensions is the length of the vectors, up to 4,096; 0, the default: as the model
	// gives them.
	Dimensions int `yaml:"dimensions"`
	// Batch is how many texts of an import go with one call, 1 to 256. Defaults to 10, which
	// every vendor takes.
	Batch int `yaml:"batch"`
	// Wait is the longest that a question waits for its vector, the permit included, 10ms to
	// 2s. Defaults to 300ms.
	Wait time.Duration `yaml:"wait"`
}

// On reports whether anything is embedded.
func (e Embeddings) On() bool { return len(e.Vendors) > 0 }

func (d *document) checkEmbeddings(e Embeddings, r *Rules) {
	const path = "knowledge.embeddings"
	d.count(path+".dimensions", e.Dimensions, 0, 4096)
	d.count(path+".batch", e.Batch, 1, 256)
	d.span(path+".wait", e.Wait, 10*time.Millisecond, 2*time.Second)
	model := ""
	for i, name := range e.Vendors {
		at := fmt.Sprintf("%s.vendors[%d]", path, i)
		j := slices.Index(names(r.Vendors), name)
		if j < 0 {
			d.fault(at, "must be the name of a vendor, is %s", quote(name))
			continue
		}
		m, found := r.Vendors[j].Models[e.Model]
		switch {
		case slices.Contains(e.Vendors[:i], name):
			d.fault(at, "must not repeat %s", quote(name))
		case !found:
			d.fault(at, "must have the model %s, as %s.model says", quote(e.Model), path)
		case model != "" && m.Name != model:
			d.fault(at, "must have the same model %s as the vendor before, which is %s, has %s", quote(e.Model), quote(model), quote(m.Name))
		}
		if model == "" {
			model = m.Name
		}
	}
}
