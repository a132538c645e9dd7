//go:build race

package main

// raced says that the race detector watches, under which all takes many times as long.
const raced = true
