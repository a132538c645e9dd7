package faq

import (
	"cmp"
	"math"
	"slices"
)

// What questions are expected to be: most are about something that an entry answers, the
// rest are half about something near, half small talk.
const (
	mixInScope = 0.70
	mixNear    = 0.15
	mixFar     = 0.15
)

// MaxWrong is the part of the answers given that may be wrong.
const MaxWrong = 0.05

// point is a question whose entry is known, as a ranker saw it that did not know the
// question.
type point struct {
	kind    kind
	signals signals
	right   bool // the best entry is the one that answers
	doubted bool // the guard keeps the answer back
	score   float64
}

type kind int

const (
	inScope kind = iota
	near         // its entry was not there when the ranker learnt
	far          // no entry ever answers it
	kinds
)

// logistic turns signals into the probability that the best entry answers.
type logistic struct {
	mean, spread signals
	weights      signals
}

const (
	newtonSteps = 25
	ridge       = 1e-3 // L2, of the whole
)

// fitLogistic fits the points by Newton's method, each kind with its part of the mix.
func fitLogistic(points []point) logistic {
	weights := weigh(points)
	l := logistic{spread: signals{1}}
	for i := 1; i < len(l.mean); i++ {
		for j, p := range points {
			l.mean[i] += weights[j] * p.signals[i]
		}
		for j, p := range points {
			d := p.signals[i] - l.mean[i]
			l.spread[i] += weights[j] * d * d
		}
		l.spread[i] = math.Max(math.Sqrt(l.spread[i]), 1e-6)
	}
	for range newtonSteps {
		var slope signals
		var curve [len(slope)]signals
		for i := range slope {
			slope[i] = ridge * l.weights[i]
			curve[i][i] = ridge
		}
		for j, p := range points {
			x := l.standard(p.signals)
			q := l.of(x)
			y := 0.0
			if p.right {
				y = 1
			}
			for i := range x {
				slope[i] += weights[j] * (q - y) * x[i]
				for k := range x {
					curve[i][k] += weights[j] * q * (1 - q) * x[i] * x[k]
				}
			}
		}
		step := solve(curve, slope)
		for i := range step {
			l.weights[i] -= step[i]
		}
	}
	return l
}

// weigh gives each kind its part of the mix; all weights together are 1.
func weigh(points []point) []float64 {
	mix := [kinds]float64{mixInScope, mixNear, mixFar}
	var n [kinds]int
	for _, p := range points {
		n[p.kind]++
	}
	sum := 0.0
	for k, part := range mix {
		if n[k] > 0 {
			sum += part
		}
	}
	weights := make([]float64, len(points))
	for j, p := range points {
		weights[j] = mix[p.kind] / sum / float64(n[p.kind])
	}
	return weights
}

func (l *logistic) standard(s signals) signals {
	x := signals{1}
	for i := 1; i < len(s); i++ {
		x[i] = (s[i] - l.mean[i]) / l.spread[i]
	}
	return x
}

func (l *logistic) of(x signals) float64 {
	z := 0.0
	for i, w := range l.weights {
		z += w * x[i]
	}
	return 1 / (1 + math.Exp(-z))
}

func (l *logistic) score(s signals) float64 { return l.of(l.standard(s)) }

// solve solves curve · step = slope by elimination; the curve is positive definite.
func solve(curve [len(signals{})]signals, slope signals) signals {
	for i := range slope {
		for k := i + 1; k < len(slope); k++ {
			f := curve[k][i] / curve[i][i]
			for j := i; j < len(slope); j++ {
				curve[k][j] -= f * curve[i][j]
			}
			slope[k] -= f * slope[i]
		}
	}
	for i := len(slope) - 1; i >= 0; i-- {
		for j := i + 1; j < len(slope); j++ {
			slope[i] -= curve[i][j] * slope[j]
		}
		slope[i] /= curve[i][i]
	}
	return slope
}

// few is how many points the part of wrong answers is read off as it is; with fewer it is
// the upper bound of what it may be that counts.
const few = 300

// never is a threshold that nothing reaches.
const never = 2.0

// threshold is the lowest score above which no more than the part wrongMax of the
// answers is wrong, or never.
func threshold(points []point, wrongMax float64) float64 {
	order, weights := make([]int, len(points)), weigh(points)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[b].score, points[a].score) })
	found := never
	var answered, wrong, squares float64
	for _, j := range order {
		p := points[j]
		if p.doubted {
			continue
		}
		answered += weights[j]
		squares += weights[j] * weights[j]
		if !p.right {
			wrong += weights[j]
		}
		part := wrong / answered
		if len(points) < few {
			part = wilson(part, answered*answered/squares)
		}
		if part <= wrongMax {
			found = p.score
		}
	}
	return found
}

// wilson is the upper bound of a part that was seen in n cases, at nine tenths.
func wilson(part, n float64) float64 {
	const z = 1.28
	return (part + z*z/(2*n) + z*math.Sqrt(part*(1-part)/n+z*z/(4*n*n))) / (1 + z*z/n)
}
