//go:build race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = true

// A fifth of the kills, and fewer histories, are enough to see races: what runs is the same.
const (
	killEach       = 5
	histories      = 10
	owingHistories = 3
	textHistories  = 1
)
