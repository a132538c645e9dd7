package rules

import (
	"reflect"
	"testing"
	"time"
)

func TestTheShippedDocumentsAreForTheShippedVendorsAlone(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]Knowledge{
		"":                                     {Shipped: true, Threshold: 0.3, Passages: 3},
		"knowledge: {passages: 5}":             {Shipped: true, Threshold: 0.3, Passages: 5},
		"knowledge: {shipped: false}":          {Threshold: 0.3, Passages: 3},
		vendorA:                                {Threshold: 0.3, Passages: 3},
		vendorA + "knowledge: {shipped: true}": {Shipped: true, Threshold: 0.3, Passages: 3},
		"knowledge: {folder: /srv/docs, threshold: 0.5}": {
			Folder: "/srv/docs", Shipped: true, Threshold: 0.5, Passages: 3,
		},
	} {
		want.Embeddings = Embeddings{Vendors: []string{}, Model: "embed", Batch: 10, Wait: 300 * time.Millisecond}
		r, err := Parse("r.yaml", []byte(doc))
		if err != nil || !reflect.DeepEqual(r.Knowledge, want) {
			t.Errorf("%q: %+v, %v", doc, r.Knowledge, err)
		}
	}
}

func TestFaultsOfTheKnowledgeAreNamed(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"knowledge: {treshold: 0.5}":  `r.yaml:1:13: knowledge.treshold: is not a known key; did you mean "threshold"?`,
		"knowledge: {threshold: 0}":   "r.yaml:1:13: knowledge.threshold: must be above 0 and at most 1, is 0",
		"knowledge: {passages: 11}":   "r.yaml:1:13: knowledge.passages: must be at most 10, is 11",
		"knowledge: {folder: \" x\"}": "r.yaml:1:13: knowledge.folder: must be a path of at most 1024 bytes without white space around it",
	} {
		if _, err := Parse("r.yaml", []byte(doc)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
