// Package drill breaks things on purpose and judges what happens. A drill starts a private
// instance as child processes of the same binary, simulated vendors in its own process and
// a steady load of chat, makes one thing fail, and says in a Report which promises held:
// nothing lost, exactly one end for each message, no vendor beyond its limit, every message
// answered in time, and what the drill is about.
//
// Time runs at a twentieth: a call of 8 s takes 400 ms. What the rules do not let go below
// a second (max_wait, the breaker's window) and what is no matter of the vendors' pace (the
// controller's lease, the lanes' redelivery) is not scaled.
//
// Like load, it knows the instance only by its public contract.
package drill
