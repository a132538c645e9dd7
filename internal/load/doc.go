// Package load puts bounded load on an instance, over HTTP and from outside, and says
// in a Report what became of every ticket: answered by which route and after what wait,
// refused, failed, lost or told twice. Beside the instance it reads the control port of
// the simulated vendors, so that a report also shows how many calls were in flight at
// each vendor against its limit, and how much of the permits was used.
//
// A ramp needs no instance: it calls a vendor with more and more light calls at once, finds
// the knee and proposes limits in a RampReport.
//
// Load knows the instance only by its public contract and holds no part of it. Everything
// it starts has a bound: connections, long polls, samples and time. By default it refuses
// targets that are not on this machine.
package load
