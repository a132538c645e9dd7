// Package trace tells an OpenTelemetry collector how a ticket travels: one trace a ticket,
// from its intake to the delivery of its answer, whichever processes have a part in it.
//
// The trace's id, and that of its first span, are made from the ticket's id. So every
// process that knows the ticket adds to the same trace, and nothing has to travel with the
// job. A caller's own trace (the header traceparent) is linked to the first span. No span
// carries a customer's words.
//
// Where no endpoint is set in the environment nothing is made and nothing leaves the process.
package trace
