// Package e2e drives the built binary from outside: real processes, HTTP, sockets,
// signals and time. It knows only what the contract shows.
//
//	go test -tags e2e ./internal/e2e/
package e2e
