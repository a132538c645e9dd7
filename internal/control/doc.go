// Package control is the one controller: it owns what must be exact, the permits of
// the vendors and the turns of the sessions, and serves them to whoever holds jobs.
//
// A Controller is a candidate: it takes part in the election and serves while elected.
// A Member is a process's way to whoever was elected; in the same process that is a
// function call. Behind each stands a plain state machine without I/O (server, holder)
// that takes time and messages and gives messages back: docs/controller.md tells it.
//
// Comes in: control.report (asks, releases, everything held), control.place,
// control.intake (may a message come in). Goes out: control.node.<id> (grants,
// acknowledgements, probes), control.hello.
package control
