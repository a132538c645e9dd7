// Package bell rings: it has one process of all judge how things stand, stores what fires,
// and tells webhooks of it, in the shapes that chat rooms take.
//
// Comes in: readings, and the signs of life of all processes in the bucket alerts. Goes out:
// the state in the same bucket, and POSTs. Whichever process does the duty finds the state
// there: nothing is told twice or forgotten because another one goes on.
package bell
