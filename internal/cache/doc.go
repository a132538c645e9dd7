// Package cache keeps values in the memory of a process: bounded, with a time after which
// a value is stale and still given, and one load at a time for each key. The library
// beneath holds the entries and chooses which go; what this package adds is when they are
// loaded.
package cache
