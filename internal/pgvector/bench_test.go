//go:build pgvector && unix

package pgvector

import (
	"testing"

	"sluice/internal/vector"
)

// BenchmarkNearest asks for 50 of 1,000 vectors that have nothing in common. The database is
// compiled to WebAssembly and serves one query at a time: a server of its own is faster.
func BenchmarkNearest(b *testing.B) {
	vectors, asks := random(1000, 512, 1), random(64, 512, 2)
	table, err := vector.NewTable(vectors)
	if err != nil {
		b.Fatal(err)
	}
	s, _ := open(b, Config{Wait: patient})
	index := fill(b, s, Shelf{Version: "v1", Space: "random 512"}, vectors)
	b.Run("memory", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			table.Nearest(asks[i%len(asks)], MaxNearest)
		}
	})
	search := func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if near, err := index.Nearest(b.Context(), asks[i%len(asks)], MaxNearest); err != nil || len(near) != MaxNearest {
				b.Fatalf("%d, %v", len(near), err)
			}
		}
	}
	b.Run("pgvector whole", search)
	if _, err := s.pool.Exec(b.Context(), "set enable_seqscan = off"); err != nil {
		b.Fatal(err)
	}
	b.Run("pgvector hnsw", search)
	if _, err := s.pool.Exec(b.Context(), "reset enable_seqscan"); err != nil {
		b.Fatal(err)
	}
}
