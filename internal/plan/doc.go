// Package plan computes what a rules document can carry: from the contracts of the vendors
// and the figures of their calls it derives the capacity, the waits to be expected, and
// which bounds and time-outs do not fit. It is plain arithmetic, without I/O.
package plan
