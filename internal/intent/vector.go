package intent

import (
	"math"
	"slices"
)

// vocabulary numbers the features that were seen in training, in the order of their
// hashes, so that the same examples always give the same model. It never changes.
type vocabulary struct {
	slots  []slot
	shift  uint
	blocks []uint8 // of each feature, by its number
}

type slot struct {
	feature feature
	number  int32 // from 1; 0: empty
}

// newVocabulary takes the features in any order, with repeats. When there are more than
// the room allows, the rare ones are left out.
func newVocabulary(seen []feature, room int) *vocabulary {
	seen = frequent(seen, room)
	bits := uint(1)
	for 1<<bits < 2*len(seen) {
		bits++
	}
	v := &vocabulary{slots: make([]slot, 1<<bits), shift: 64 - bits, blocks: make([]uint8, len(seen))}
	for i, f := range seen {
		v.blocks[i] = uint8(f & blockMask)
		at := v.home(f)
		for v.slots[at].number != 0 {
			at = (at + 1) % len(v.slots)
		}
		v.slots[at] = slot{f, int32(i + 1)}
	}
	return v
}

// frequent returns the features in order without repeats: all of them, or those that
// were seen often enough for the rest to fit into the room.
func frequent(seen []feature, room int) []feature {
	slices.Sort(seen)
	for least := 1; ; least++ {
		var all []feature
		for i := 0; i < len(seen); {
			from := i
			for i < len(seen) && seen[i] == seen[from] {
				i++
			}
			if i-from >= least {
				all = append(all, seen[from])
			}
		}
		if len(all) <= room {
			return all
		}
	}
}

func (v *vocabulary) home(f feature) int { return int(f * 0x9e3779b97f4a7c15 >> v.shift) }

func (v *vocabulary) find(f feature) (int32, bool) {
	for at := v.home(f); v.slots[at].number != 0; at = (at + 1) % len(v.slots) {
		if v.slots[at].feature == f {
			return v.slots[at].number - 1, true
		}
	}
	return 0, false
}

func (v *vocabulary) size() int { return len(v.blocks) }

// weighted is one known feature of a text with its weight.
type weighted struct {
	number int32
	weight float32
}

// vector turns features into weights: sublinear in how often one is there, the blocks
// brought to their shares, the whole to length 1. Features that are not known are left out.
func (v *vocabulary) vector(features []feature) []weighted {
	numbers := make([]int32, 0, len(features))
	for _, f := range features {
		if n, ok := v.find(f); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	all := make([]weighted, 0, len(numbers))
	var squares [blocks]float64
	for i := 0; i < len(numbers); {
		from := i
		for i < len(numbers) && numbers[i] == numbers[from] {
			i++
		}
		w := float32(1)
		if i-from > 1 {
			w = float32(1 + math.Log(float64(i-from)))
		}
		squares[v.blocks[numbers[from]]] += float64(w) * float64(w)
		all = append(all, weighted{numbers[from], w})
	}
	var scale [blocks]float32
	shares, length := blockWeights(), 0.0
	for b, square := range squares {
		if square > 0 {
			length += shares[b] * shares[b]
		}
	}
	for b, square := range squares {
		if square > 0 {
			scale[b] = float32(shares[b] / math.Sqrt(square*length))
		}
	}
	for i := range all {
		all[i].weight *= scale[v.blocks[all[i].number]]
	}
	return all
}
