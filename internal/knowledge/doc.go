// Package knowledge finds the passages of documents that a question is about: stage 3
// asks it before a vendor is asked to answer from them. Documents come in as Markdown,
// plain text or CSV; passages with their source and a score go out. It is plain code
// without I/O.
package knowledge
