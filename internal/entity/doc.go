// Package entity finds what a message names: orders, parcels, phones, amounts, dates,
// mail addresses, and the cards and papers that nobody else may see. Text goes in, spans
// come out. It is plain code without I/O and without regular expressions: one pass cuts
// the text into runs of letters and digits, and each run is judged by its own shape and
// by the nearest word before it that says what numbers mean.
package entity
