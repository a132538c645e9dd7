// Package worker is stage 3: it makes answers. It holds the chains and the templates,
// and knows nothing of queues.
//
// Comes in: a question with its session's history. Goes out: an answer, and its text
// piece by piece while it is in the making.
package worker
