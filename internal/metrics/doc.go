// Package metrics counts what a process does, and shows it, with how everything stands, in
// the text format of Prometheus.
//
// Comes in: one call for each event that counts, from whatever stage. Goes out: the page
// /metrics. Counters are of this process alone and begin at zero with it; what is read at
// each scrape (lanes, permits, breakers, level, promises) is of the whole, the same on each
// node that shows it. No label holds anything that a customer wrote or is.
package metrics
