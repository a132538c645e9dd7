// Package queue is all of NATS in Sluice: every subject, stream, bucket and
// consumer by name, the embedded server, the wire format, and the writes of a
// ticket's life in their order. Stages call it; it calls none of them.
//
// Comes in: accepted messages (Accept), ends of tickets (End, Cancel). Goes out:
// jobs of a lane (Jobs), durable events (Feed), deltas and nudges on core NATS.
//
// A Queue is safe for concurrent use. Nothing here retries for ever: a call ends with
// its context, and what was written before it ended is repaired by whoever takes
// the job next.
package queue
