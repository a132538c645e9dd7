package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// MaxDimensions is the longest vector that is taken in.
const MaxDimensions = 4096

// ErrNoDirection is returned for a vector that cannot be compared: empty, too long, all
// zero, or with a number that is none.
var ErrNoDirection = errors.New("the vector has no direction")

// Unit returns v scaled to length 1, in a slice of its own.
func Unit(v []float32) ([]float32, error) {
	if len(v) == 0 || len(v) > MaxDimensions {
		return nil, fmt.Errorf("%d dimensions, must be 1 to %d: %w", len(v), MaxDimensions, ErrNoDirection)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if length := math.Sqrt(sum); length > 0 && !math.IsInf(length, 0) && !math.IsNaN(length) {
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = float32(float64(x) / length)
		}
		return out, nil
	}
	return nil, ErrNoDirection
}

// Likeness returns the cosine of the angle between two vectors of length 1 and of as many
// dimensions: 1 for the same direction, 0 for nothing in common.
func Likeness(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 { // four sums, so that no addition waits for the one before
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}

// Encode returns a vector as bytes: four for each number, the lowest first.
func Encode(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// Decode reads what Encode wrote. What it returns has length 1, whatever the bytes say.
func Decode(raw []byte) ([]float32, error) {
	if len(raw)%4 != 0 {
		return nil, fmt.Errorf("decode a vector: %d bytes: %w", len(raw), ErrNoDirection)
	}
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return Unit(v)
}
