// Package chat holds the nouns of Sluice: ticket, lane, event, reply, and the
// kinds of error that every stage speaks of. It decides nothing about storage or
// transport, does no I/O, and imports only the standard library.
package chat
