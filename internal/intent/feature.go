package intent

// A feature is the hash of something that a text has. Its last bits name the block that
// it belongs to: blocks weigh the same however many features they have, so that the
// many pieces of words do not drown the few ideas.
type feature = uint64

const (
	blockWord    = iota // words, and pairs of neighbours
	blockPiece          // parts of words, which withstand typing errors
	blockHan            // one to three Han characters
	blockConcept        // ideas, and pairs of them
	blockRest           // signs, sounds, length
	blocks
	blockMask = 7
)

// blockWeights are the shares of the blocks in the length of a vector.
func blockWeights() [blocks]float64 { return [blocks]float64{1, 1, 1.4, 0.5, 0.5} }

// Kinds of features within the blocks.
const (
	ofWord feature = iota + 1
	ofPair
	ofPiece
	ofHan
	ofConcept
	ofConcepts
	ofSign
	ofSound
	ofLength
	ofCount
)

const (
	hashStart = 14695981039346656037 // FNV-1a's
	hashPrime = 1099511628211
)

func hash(block, kind feature) feature {
	return (hashStart^kind)*hashPrime&^blockMask | block
}

// and hashes one thing more.
func and(h, v feature) feature {
	return (h^v<<3)*hashPrime&^blockMask | h&blockMask
}

func andRunes(h feature, runes []rune) feature {
	for _, r := range runes {
		h = and(h, feature(r))
	}
	return h
}

// reader takes texts apart. It never changes and is safe for concurrent use.
type reader struct {
	han      *han
	sounds   *sounds
	concepts *concepts
}

func newReader() *reader {
	return &reader{han: newHan(), sounds: newSounds(), concepts: newConcepts()}
}

// usualFeatures is the room for those of a usual message.
const usualFeatures = 256

// features returns what a folded text has, with repeats.
func (r *reader) features(folded string) []feature {
	plain := r.han.plain(folded)
	tokens := tokensOf(plain)
	all := make([]feature, 0, usualFeatures)
	var before feature // the word before this one
	words := 0
	for _, t := range tokens {
		switch t.kind {
		case signToken:
			all = append(all, andRunes(hash(blockRest, ofSign), t.text))
			continue
		case hanToken:
			all = hanFeatures(t.text, all)
			before = hash(blockHan, ofHan)
		case wordToken:
			word := andRunes(hash(blockWord, ofWord), t.text)
			all = append(all, word)
			if before != 0 {
				all = append(all, and(and(hash(blockWord, ofPair), before), word))
			}
			if words == 0 {
				all = append(all, and(word, 1))
			}
			before = word
			all = pieces(t.text, all)
		}
		words++
	}
	all = r.soundFeatures(tokens, all)
	all = r.conceptFeatures(tokens, all)
	return append(all,
		and(hash(blockRest, ofLength), feature(lengthStep(len(plain)))),
		and(hash(blockRest, ofCount), feature(min(words, 6))))
}

// lengthStep is how long a text is, roughly.
func lengthStep(n int) int {
	step := 0
	for _, limit := range []int{2, 4, 7, 12, 20, 35, 60, 120} {
		if n > limit {
			step++
		}
	}
	return step
}

// hanFeatures are all runs of one to three characters, and how the whole begins and ends.
func hanFeatures(run []rune, all []feature) []feature {
	const begins, ends = 1, 2
	of := hash(blockHan, ofHan)
	for i := range run {
		h := of
		for j := i; j < min(i+3, len(run)); j++ {
			h = and(h, feature(run[j]))
			all = append(all, h)
		}
	}
	n := len(run)
	return append(all,
		and(andRunes(of, run[:1]), begins), and(andRunes(of, run[:min(2, n)]), begins),
		and(andRunes(of, run[n-1:]), ends), and(andRunes(of, run[max(0, n-2):]), ends))
}

// pieces are the parts of three to five letters of a word with its borders.
func pieces(word []rune, all []feature) []feature {
	const least, most = 3, 5
	var room [maxLetters + 2]rune
	framed := append(append(append(room[:0], '<'), word...), '>')
	for i := range framed {
		h := hash(blockPiece, ofPiece)
		for j := i; j < min(i+most, len(framed)); j++ {
			h = and(h, feature(framed[j]))
			if j-i+1 >= least {
				all = append(all, h)
			}
		}
	}
	return all
}

// soundFeatures are pairs of neighbouring syllables.
func (r *reader) soundFeatures(tokens []token, all []feature) []feature {
	var before uint16
	next := func(syllable uint16) {
		if before != 0 && syllable != 0 {
			all = append(all, and(and(hash(blockRest, ofSound), feature(before)), feature(syllable)))
		}
		before = syllable
	}
	for _, t := range tokens {
		switch t.kind {
		case hanToken:
			for _, c := range t.text {
				if c >= firstHan {
					next(r.sounds.of[c-firstHan])
				} else {
					next(0)
				}
			}
		case wordToken:
			var room [maxLetters]uint16
			spelt := r.sounds.spell(string(t.text), room[:0])
			if spelt == nil {
				next(0)
			}
			for _, syllable := range spelt {
				next(syllable)
			}
		}
	}
	return all
}

// maxConcepts bounds the ideas that are paired.
const maxConcepts = 12

func (r *reader) conceptFeatures(tokens []token, all []feature) []feature {
	found := r.concepts.in(spaced(tokens))
	for _, one := range found {
		all = append(all, and(hash(blockConcept, ofConcept), one))
	}
	if len(found) > maxConcepts {
		return all
	}
	for i, one := range found {
		for _, other := range found[i+1:] {
			all = append(all, and(and(hash(blockConcept, ofConcepts), one), other))
		}
	}
	return all
}
