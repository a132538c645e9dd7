// Package eval judges how well messages are understood, on files that people have
// labelled. Labelled messages and a classifier come in, figures and tables go out.
package eval
