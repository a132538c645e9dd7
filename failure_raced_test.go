//go:build race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = true

// An eighth of the kills, and fewer histories, are enough to see races: what runs is the same.
const (
	killEach       = 8
	histories      = 8
	owingHistories = 3
	textHistories  = 1
)
