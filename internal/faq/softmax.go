package faq

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// How the softmax learns, found by cross-validation on the shipped entries.
const (
	rounds = 15
	rate   = 0.4  // of AdaGrad
	shrink = 3e-4 // L2, of the features at hand
)

// maxWeights bounds the weights: 24 MB, and as much again while learning. With many
// entries the rarest features give way.
const maxWeights = 6_000_000

// softmax is a linear model over the entries. It never changes.
type softmax struct {
	classes int
	row     []int32   // of a feature; unknown: it gave way
	weights []float32 // row × entry
	bias    []float32
}

// newSoftmax gives a row to each feature that is not too rare.
func newSoftmax(features, classes int, vectors [][]weighted) *softmax {
	having := make([]int, features)
	for _, text := range vectors {
		for _, f := range text {
			having[f.number]++
		}
	}
	m := &softmax{classes: classes, row: make([]int32, features), bias: make([]float32, classes)}
	for least := 1; ; least++ {
		rows := int32(0)
		for n, h := range having {
			m.row[n] = unknown
			if h >= least {
				m.row[n] = rows
				rows++
			}
		}
		if int(rows)*classes <= maxWeights {
			m.weights = make([]float32, int(rows)*classes)
			return m
		}
	}
}

// learn trains over the phrasings, whose vectors are given. The same phrasings in the
// same order give the same model.
func learn(ctx context.Context, features, classes int, all []phrasing, vectors [][]weighted) (*softmax, error) {
	m := newSoftmax(features, classes, vectors)
	steps, biasSteps := make([]float32, len(m.weights)), make([]float32, classes)
	random := rand.New(rand.NewPCG(1, uint64(len(all))))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	p, slope := make([]float64, classes), make([]float32, classes)
	for range rounds {
		random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for at, i := range order {
			if at%256 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			m.probabilities(vectors[i], p)
			for k := range slope {
				slope[k] = float32(p[k])
			}
			slope[all[i].entry]--
			descend(m.bias, biasSteps, slope, 1, 0)
			for _, f := range vectors[i] {
				if m.row[f.number] == unknown {
					continue
				}
				from := int(m.row[f.number]) * classes
				descend(m.weights[from:from+classes], steps[from:from+classes], slope, f.weight, shrink)
			}
		}
	}
	return m, nil
}

// descend is one step of AdaGrad for the weights of one feature.
func descend(weights, steps, slope []float32, strength, shrink float32) {
	weights, steps = weights[:len(slope)], steps[:len(slope)]
	for k, s := range slope {
		d := s*strength + shrink*weights[k]
		steps[k] += d * d
		weights[k] -= rate * d / (float32(math.Sqrt(float64(steps[k]))) + 1e-6)
	}
}

// probabilities fills p with that of each entry.
func (m *softmax) probabilities(text []weighted, p []float64) {
	for k, b := range m.bias {
		p[k] = float64(b)
	}
	for _, f := range text {
		if m.row[f.number] == unknown {
			continue
		}
		weights := m.weights[int(m.row[f.number])*m.classes:][:m.classes]
		for k, w := range weights {
			p[k] += float64(w * f.weight)
		}
	}
	most, sum := slices.Max(p), 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - most)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}
