// Package api is stages 1 and 4: what comes in from outside (tickets, later batches
// and sockets) and what goes back out (tickets, events, deltas). It holds the callers'
// keys and identities against the stored tenants. What operators may ask is in the files
// admin*.go: each of their changes is stored in the engine and obeyed by every node.
//
// Comes in: HTTP and sockets. Goes out: accepted messages through queue.Accept, on
// chat.<lane>.<tenant>.<session>.<ticket>. Comes back: the talk log (queue.Feed) and
// delta.<tenant>.<session> (queue.Deltas), once a node for all listeners.
package api
