// Package pgvector keeps the vectors of a knowledge's passages in a PostgreSQL that has the
// extension pgvector, and finds the nearest of them there. It is a second home of vectors
// that the engine keeps as well: what is lost here is written again, and nothing is paid for
// twice. Whoever asks has to go on without an answer: the database may be away or slow.
//
// Each shelf, which is one version of a knowledge in one space of one tenant, has a table and
// an index of its own in the schema sluice_vectors. So no search can meet the vectors of
// another shelf, the index of one is as good as if there were no others, and a shelf that
// nobody uses goes with its table, without anything to clean up behind it.
package pgvector
