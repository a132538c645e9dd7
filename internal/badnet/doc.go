// Package badnet is a bad network between clients and a server, for tests: those of the
// widget in a browser and those of its connection module. Nothing that ships imports it.
package badnet
