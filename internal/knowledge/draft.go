package knowledge

import (
	"context"
	"slices"
)

// Draft is a set of documents that is being changed, and nobody is answered from. It has
// one user at a time.
type Draft struct {
	documents []Document
}

// Edit begins a draft with the documents of a published index; nil: with none.
func Edit(x *Index) *Draft {
	if x == nil {
		return &Draft{}
	}
	return &Draft{documents: slices.Clone(x.documents)}
}

// Put adds a document, or takes the place of the one with its name.
func (d *Draft) Put(document Document) {
	if i := d.find(document.Name); i >= 0 {
		d.documents[i] = document
		return
	}
	d.documents = append(d.documents, document)
}

// Remove takes a document away and reports whether it was there.
func (d *Draft) Remove(name string) bool {
	i := d.find(name)
	if i < 0 {
		return false
	}
	d.documents = slices.Delete(d.documents, i, i+1)
	return true
}

// Documents returns the documents as they stand. They must not be changed.
func (d *Draft) Documents() []Document { return d.documents }

func (d *Draft) find(name string) int {
	return slices.IndexFunc(d.documents, func(one Document) bool { return one.Name == name })
}

// Publish indexes the documents as they stand. The draft may be changed on.
func (d *Draft) Publish(ctx context.Context) (*Index, error) { return Build(ctx, d.documents) }
