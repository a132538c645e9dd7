// Package control is the one controller: it owns what must be exact, the permits of
// the vendors and the turns of the sessions, and serves them to whoever holds jobs.
//
// Comes in: asks of dispatchers and of running chains. Goes out: permits, places in
// the line, estimates. In one process an ask is a function call.
package control
