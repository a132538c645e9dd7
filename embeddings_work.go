package main

import "sluice/internal/queue"

// work is texts on their way to their vectors.
type work struct {
	want       space
	keys       []string             // of the texts, in their order
	texts      map[string]string    // as a vendor reads them
	vectors    map[string][]float32 // nil: none yet, or without a direction
	missing    []string             // keys, each once
	dimensions int                  // 0: not known yet
}

func (s space) work(texts []string) *work {
	w := &work{want: s, texts: map[string]string{}, vectors: map[string][]float32{}, dimensions: s.dimensions}
	for _, text := range texts {
		masked := embedded(text)
		key := queue.VectorKey(s.id(), masked)
		w.keys, w.texts[key] = append(w.keys, key), masked
	}
	return w
}

func (w *work) put(key string, v []float32) {
	if w.vectors[key] = v; w.dimensions == 0 {
		w.dimensions = len(v)
	}
}

// fits reports whether there is room for the vectors, as far as is known.
func (w *work) fits(most int) bool { return w.dimensions == 0 || len(w.keys) <= most/w.dimensions }

func (w *work) result() [][]float32 {
	all := make([][]float32, len(w.keys))
	for i, key := range w.keys {
		if all[i] = w.vectors[key]; all[i] == nil {
			all[i] = make([]float32, w.dimensions)
		}
	}
	return all
}
