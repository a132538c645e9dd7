package intent

// Model is what was learnt from examples: a linear softmax over features of words,
// pieces of words, Han characters and ideas. It never changes and is safe for
// concurrent use.
type Model struct {
	classes []taughtClass
	reader  *reader
	known   *vocabulary
	weights []float32 // feature × class
	bias    []float32 // by class
}

// taughtClass is a class with the number of examples that it was learnt from.
type taughtClass struct {
	name     string
	extra    bool
	examples int
}

// Examples returns how many examples the model has learnt from.
func (m *Model) Examples() int {
	sum := 0
	for _, c := range m.classes {
		sum += c.examples
	}
	return sum
}

// Features returns how many features the model knows.
func (m *Model) Features() int { return m.known.size() }

// read returns the logit of each class for a folded text.
func (m *Model) read(folded string) []float64 {
	logits := make([]float64, len(m.classes))
	m.score(m.known.vector(m.reader.features(folded)), logits)
	return logits
}

func (m *Model) score(text []weighted, logits []float64) {
	n := len(m.classes)
	for j, b := range m.bias {
		logits[j] = float64(b)
	}
	for _, f := range text {
		row := m.weights[int(f.number)*n:][:n]
		for j, w := range row {
			logits[j] += float64(w * f.weight)
		}
	}
}
