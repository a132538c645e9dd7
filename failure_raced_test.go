//go:build race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = true

// A third of the kills, and fewer histories, are enough to see races: what runs is the same.
const (
	killEach       = 3
	histories      = 30
	owingHistories = 8
)
