//go:build !race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = false

// Of the write points each is killed at; so many random histories are played, each takes up
// to a second or so.
const (
	killEach       = 1
	histories      = 60
	owingHistories = 20
	textHistories  = 5
)
