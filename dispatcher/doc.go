// Package dispatcher is stage 2: it takes jobs from the lanes, looks after each one
// it holds (heartbeat, deadline, a waiter at the controller), decides how it is
// answered, and settles it exactly once.
//
// Comes in: lane messages, chat.<lane>.<tenant>.<session>.<ticket>. Goes out: the end
// of the ticket and its final event (through internal/queue), deltas while an answer
// is in the making.
package dispatcher
