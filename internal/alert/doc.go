// Package alert judges whether something is wrong: rules and readings with their time come
// in, what fires and what has ended goes out, and what each webhook is to be told of it.
//
// It is pure: no clock, no network, no goroutine. Its state is a value that is stored between
// two looks, so that any process may make the next one.
package alert
