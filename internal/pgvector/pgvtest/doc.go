// Package pgvtest gives tests a real PostgreSQL with the extension pgvector: PGlite,
// which npm fetches once, in the versions of package-lock.json, into the user's cache. Debian
// 12 and the PostgreSQL that the ledger's tests fetch have no pgvector.
//
// One server serves all tests of a process, which therefore do not run at the same time. It
// works on one query after the other, so it shows what is found, not how fast.
package pgvtest
