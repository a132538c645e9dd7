// Package vector compares texts by the vectors that an embedding model gives them. It is
// plain code without I/O: vectors come in as a vendor sent them, the nearest ones go out.
package vector
