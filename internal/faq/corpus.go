package faq

import (
	_ "embed"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"sluice/internal/intent"
)

// conceptLines are words that mean alike to the customers of a shop.
//
//go:embed words/concepts.txt
var conceptLines string

// phrasing is one question of an entry as the rankers see it, or its answer, which has
// words that the questions lack.
type phrasing struct {
	entry    int
	language string
	answer   bool
	plain    string
	sides    sides
	has      []count
	vector   []float32 // nil: words alone tell what it is about
}

// count is a feature with how often a text has it.
type count struct {
	number int32   // in the vocabulary; unknown: not there
	weight float32 // the more often, the more
	block  uint8
}

const unknown = -1

// vocabulary numbers features in the order in which they are first seen.
type vocabulary struct {
	reader *intent.Reader
	model  *intent.Model // what the intents are told by; nil: nothing
	number map[uint64]int32
}

func newVocabulary(model *intent.Model) *vocabulary {
	return &vocabulary{model: model, reader: intent.NewReader(conceptLines), number: map[uint64]int32{}}
}

func (v *vocabulary) size() int { return len(v.number) }

// learn counts the features of a text and numbers those that are new. No text is read
// meanwhile.
func (v *vocabulary) learn(text string) []count { return v.count(text, v.enter) }

// read counts the features of a text, in the order of their hashes.
func (v *vocabulary) read(text string) []count { return v.count(text, v.find) }

func (v *vocabulary) find(feature uint64) int32 {
	if n, known := v.number[feature]; known {
		return n
	}
	return unknown
}

func (v *vocabulary) enter(feature uint64) int32 {
	if _, known := v.number[feature]; !known {
		v.number[feature] = int32(len(v.number))
	}
	return v.number[feature]
}

func (v *vocabulary) count(text string, numberOf func(uint64) int32) []count {
	features := v.reader.Features(text)
	slices.Sort(features)
	all := make([]count, 0, len(features))
	for i := 0; i < len(features); {
		from := i
		for i < len(features) && features[i] == features[from] {
			i++
		}
		f := features[from]
		all = append(all, count{number: numberOf(f), weight: float32(1 + math.Log(float64(i-from))), block: uint8(intent.Block(f))})
	}
	return v.countIntents(text, numberOf, all)
}

// plain is the form in which questions are the same: without signs and politeness.
func (v *vocabulary) plain(text string) string {
	plain := v.reader.Plain(text)
	for {
		before := plain
		for _, polite := range politeWords() {
			if rest, ok := strings.CutPrefix(plain, " "+polite); ok && strings.TrimSpace(rest) != "" {
				plain = " " + strings.TrimLeft(rest, " ")
			}
			if rest, ok := strings.CutSuffix(plain, polite+" "); ok && strings.TrimSpace(rest) != "" {
				plain = strings.TrimRight(rest, " ") + " "
			}
		}
		if plain == before {
			return plain
		}
	}
}

func politeWords() []string {
	return []string{
		"请问一下", "请问", "你好", "您好", "麻烦问下", "麻烦问一下", "想问一下", "我想问一下", "谢谢", "多谢",
		"hi ", "hello ", "hey ", "please ", " please", " thanks", " thank you", "excuse me ",
	}
}

// blockIntent is the kind of the features that say what intent the text seems to have.
const (
	blockIntent = intent.Blocks
	blocks      = blockIntent + 1
)

// leastIntent is the probability below which an intent is left out.
const leastIntent = 0.02

// countIntents adds what the text seems to want. The weights are roots, so that those of
// a text together have length 1.
func (v *vocabulary) countIntents(text string, numberOf func(uint64) int32, all []count) []count {
	if v.model == nil {
		return all
	}
	of := v.model.Probabilities(text)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] < leastIntent {
			continue
		}
		all = append(all, count{number: numberOf(intentFeature(name)), weight: float32(math.Sqrt(of[name])), block: blockIntent})
	}
	return all
}

func intentFeature(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()&^7 | blockIntent
}

// intent returns the number of the feature that says what intent a text has.
func (v *vocabulary) intent(name string) int32 { return v.find(intentFeature(name)) }

// weighted is a feature of a text with its weight.
type weighted struct {
	number int32
	weight float32
}

// blockShares are the shares of the kinds of features in the length of a vector: words,
// pieces of words, Han characters, the classifier's ideas, signs and sounds, own
// ideas, intents. Own ideas could weigh more on the shipped entries, for which their list
// was written, but not on what others write.
func blockShares() [blocks]float64 { return [blocks]float64{1, 1, 1.4, 0.5, 0.1, 1, 1} }

// scales says how much each feature of the vocabulary tells: the fewer entries have it,
// the more. Features that no phrasing at hand has are not known.
type scales struct {
	tells []float32
	rare  float32 // what an unknown one would tell
}

func newScales(features int, all []phrasing, entries int) *scales {
	s := &scales{tells: make([]float32, features)}
	having, last := make([]int32, features), make([]int32, features) // entries that have it, and the last of them
	for _, p := range all {
		for _, c := range p.has {
			if having[c.number] == 0 || last[c.number] != int32(p.entry) {
				having[c.number]++
				last[c.number] = int32(p.entry)
			}
		}
	}
	for n, h := range having {
		if h > 0 {
			s.tells[n] = float32(math.Log(1 + float64(entries)/float64(h)))
		}
	}
	s.rare = float32(math.Log(1 + float64(entries)))
	return s
}

// vector weighs the features of a text and brings it to length 1, unknown ones counted
// in. It returns the known ones and their part of the whole.
func (s *scales) vector(has []count) (known []weighted, mass float64) {
	known = make([]weighted, 0, len(has))
	kinds := make([]uint8, 0, len(has))
	var squares [blocks]float64
	for _, c := range has {
		w := s.rare
		isKnown := c.number != unknown && s.tells[c.number] > 0
		if isKnown {
			w = s.tells[c.number]
		}
		w *= c.weight
		squares[c.block] += float64(w) * float64(w)
		if isKnown {
			known, kinds = append(known, weighted{c.number, w}), append(kinds, c.block)
		}
	}
	parts, whole := blockShares(), 0.0
	for b, square := range squares {
		if square > 0 {
			whole += parts[b] * parts[b]
		}
	}
	for i := range known {
		b := kinds[i]
		known[i].weight *= float32(parts[b] / math.Sqrt(squares[b]*whole))
		mass += float64(known[i].weight) * float64(known[i].weight)
	}
	return known, mass
}
