package rules

import "strings"

// Knowledge says which documents answers rest on beside those that operators publish, and
// when a passage of them is good enough.
type Knowledge struct {
	// Folder has documents (.md, .txt, .csv) that are published when a process starts and
	// when this key changes, in place of the shipped ones. Empty, the default: none.
	Folder string `yaml:"folder"`
	// Shipped publishes the documents of the demo shop where nothing has ever been
	// published. Defaults to true without vendors of the document's own, else to false.
	Shipped bool `yaml:"shipped"`
	// Threshold is the least part of a question that a passage must cover for the RAG chain
	// to answer, above 0 and at most 1. Defaults to 0.3.
	Threshold float64 `yaml:"threshold"`
	// Passages is the most that one answer rests on, 1 to 10. Defaults to 3.
	Passages int `yaml:"passages"`
	// Embeddings adds vectors to the words that passages and the FAQ are found by. Off
	// without vendors, the default.
	Embeddings Embeddings `yaml:"embeddings"`
}

// maxFolder is the longest path of a folder, in bytes.
const maxFolder = 1024

func (d *document) checkKnowledge(r *Rules) {
	k := r.Knowledge
	if len(k.Folder) > maxFolder || strings.TrimSpace(k.Folder) != k.Folder {
		d.fault("knowledge.folder", "must be a path of at most %d bytes without white space around it", maxFolder)
	}
	d.ratio("knowledge.threshold", k.Threshold)
	d.count("knowledge.passages", k.Passages, 1, 10)
	d.checkEmbeddings(k.Embeddings, r)
}
