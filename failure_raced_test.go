//go:build race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = true

// A sixteenth of the kills, and fewer histories, are enough to see races: what runs is the same.
const (
	killEach       = 16
	histories      = 4
	owingHistories = 2
	textHistories  = 1
)
