// Package faq answers questions from a list of entries: no vendor, no network, and well
// under a millisecond. Entries come in from YAML or CSV; a Base made of them says for a
// message which entry answers it, which three to offer, or that none does, and with what
// certainty. The certainty is measured on the entries themselves, because it can't be
// carried over from one list to another.
package faq
