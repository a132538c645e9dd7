// Package valve decides how well messages are answered under the present load: it finds
// the level, 0 to 3, from what is measured, and the rung of the ladder from the level and
// the ticket. It does no I/O and starts nothing; time comes in from outside.
package valve
