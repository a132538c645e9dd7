// Package pulse knows what all processes together have counted of late, for the operators'
// overview and its charts.
//
// Each process counts what it does in a Tally and sends the sums since its start every 2 s
// on the subject pulse.node.<node>: a message that is lost is made up for by the next. Each
// api node has a Board that adds them up, and keeps the last hour in steps of 10 s in memory;
// one that starts asks the others for theirs on pulse.history. Nothing of it is durable, and
// no name holds anything that a customer wrote or is.
package pulse
