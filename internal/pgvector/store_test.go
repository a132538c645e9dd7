//go:build pgvector && unix

package pgvector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	pgv "github.com/pgvector/pgvector-go"
	"github.com/rs/zerolog"

	"sluice/internal/knowledge"
	"sluice/internal/pgvector/pgvtest"
	"sluice/internal/sim"
	"sluice/internal/vector"
)

func TestMain(m *testing.M) { pgvtest.Main(m) }

// patient is longer than any search takes, on a machine that does other things too.
const patient = 20 * time.Second

func open(t testing.TB, cfg Config) (*Store, *pgvtest.Server) {
	t.Helper()
	server := pgvtest.New(t)
	cfg.URL, cfg.Log = server.URL(), zerolog.Nop()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the next test finds nothing
		server.Start(t)
		if _, err := s.pool.Exec(context.WithoutCancel(t.Context()), "drop schema sluice_vectors cascade"); err != nil {
			t.Error(err)
		}
	})
	return s, server
}

// of reads vectors that lie in memory.
func of(all [][]float32) Read {
	return func(_ context.Context, from, to int) ([][]float32, error) { return all[from:to], nil }
}

func fill(t testing.TB, s *Store, shelf Shelf, vectors [][]float32) *Index {
	t.Helper()
	shelf.Dimensions, shelf.Passages = len(vectors[0]), len(vectors)
	x, err := s.Fill(t.Context(), shelf, of(vectors))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func nearest(t testing.TB, x *Index, v []float32, n int) []int {
	t.Helper()
	near, err := x.Nearest(t.Context(), v, n)
	if err != nil {
		t.Fatal(err)
	}
	return numbers(near)
}

func numbers(near []vector.Near) []int {
	var all []int
	for _, one := range near {
		all = append(all, one.Number)
	}
	return all
}

// random returns vectors that have nothing to do with one another: the hardest to index.
func random(n, dimensions int, seed uint64) [][]float32 {
	dice := rand.New(rand.NewPCG(seed, seed))
	all := make([][]float32, n)
	for i := range all {
		v := make([]float32, dimensions)
		for k := range v {
			v[k] = float32(dice.NormFloat64())
		}
		all[i], _ = vector.Unit(v)
	}
	return all
}

// TestItFindsWhatAnExactSearchFinds asks for the shop's passages by the phrasings of our
// questions, in the database and in memory.
func TestItFindsWhatAnExactSearchFinds(t *testing.T) {
	s, _ := open(t, Config{Wait: patient})
	var vectors [][]float32
	documents, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	x, err := knowledge.Build(t.Context(), documents)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range x.Texts() {
		vectors = append(vectors, sim.Embed(text, 512))
	}
	table, err := vector.NewTable(vectors)
	if err != nil {
		t.Fatal(err)
	}
	index := fill(t, s, Shelf{Version: "v1", Space: "sim 512"}, vectors)
	asked, found, apart := 0, 0, 0.0
	for _, entry := range x.Texts() {
		ask := sim.Embed(entry[:len(entry)/2], 512)
		want := table.Nearest(ask, 5)
		got, err := index.Nearest(t.Context(), ask, 5)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d found, want %d, %v", len(got), len(want), err)
		}
		for i, one := range want {
			asked++
			if slices.Contains(numbers(got), one.Number) {
				found++
			}
			apart = max(apart, one.Likeness-got[i].Likeness, got[i].Likeness-one.Likeness)
		}
	}
	recall := float64(found) / float64(asked)
	t.Logf("recall@5 %.4f of %d questions among %d passages, likeness off by %.5f at most", recall, asked/5, len(vectors), apart)
	if recall < 0.98 || apart > 0.01 {
		t.Errorf("recall@5 is %.4f, the likeness off by %.5f", recall, apart)
	}
}

func TestAnInterruptedImportGoesOnWhereItWas(t *testing.T) {
	s, _ := open(t, Config{Wait: patient, Batch: 250})
	vectors := random(2000, 64, 1)
	shelf := Shelf{Version: "v1", Space: "random 64", Dimensions: 64, Passages: len(vectors)}
	ctx, cancel := context.WithCancel(t.Context())
	var begun []int
	_, err := s.Fill(ctx, shelf, func(ctx context.Context, from, to int) ([][]float32, error) {
		if begun = append(begun, from); from >= 1000 {
			cancel()
		}
		return vectors[from:to], nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted import: %v", err)
	}
	other, err := Open(t.Context(), s.cfg) // another process
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	broken := errors.New("the engine is away")
	index, err := other.Fill(t.Context(), shelf, func(_ context.Context, from, to int) ([][]float32, error) {
		if begun = append(begun, from); len(begun) == 7 {
			return nil, broken
		}
		return vectors[from:to], nil
	})
	if index != nil || !errors.Is(err, broken) {
		t.Fatalf("a read that failed: %v", err)
	}
	index, err = other.Fill(t.Context(), shelf, func(_ context.Context, from, to int) ([][]float32, error) {
		begun = append(begun, from)
		return vectors[from:to], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 250, 500, 750, 1000, 1000, 1250, 1250, 1500, 1750}; !slices.Equal(begun, want) {
		t.Errorf("batches began at %d, want %d", begun, want)
	}
	for _, i := range []int{0, 999, 1000, 1999} {
		if got := nearest(t, index, vectors[i], 1); !slices.Equal(got, []int{i}) {
			t.Errorf("vector %d finds %d", i, got)
		}
	}
	if again := fill(t, s, shelf, vectors); again.id != index.id {
		t.Error("a shelf that is complete was filled again")
	}
	if _, err := other.pool.Exec(t.Context(), "set enable_seqscan = off"); err != nil { // so few vectors are compared whole else
		t.Fatal(err)
	}
	if plan := planOf(t, &Index{other, index.id, index.dimensions}, vectors[0]); !strings.Contains(plan, fmt.Sprintf("Index Scan using shelf_%d_nearest", index.id)) {
		t.Errorf("a search goes by %s", plan)
	}
	recallOf(t, index, vectors)
	if _, err := other.pool.Exec(t.Context(), "reset enable_seqscan"); err != nil {
		t.Fatal(err)
	}
}

// planOf returns how the database searches.
func planOf(t *testing.T, x *Index, v []float32) string {
	t.Helper()
	rows, err := x.store.pool.Query(t.Context(), fmt.Sprintf("explain select number from %s order by vector <=> $1 limit 5", table(x.id)), pgv.NewHalfVector(v))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// recallOf compares the index with an exact search, on vectors that are all far from one
// another.
func recallOf(t *testing.T, index *Index, vectors [][]float32) {
	t.Helper()
	table, err := vector.NewTable(vectors)
	if err != nil {
		t.Fatal(err)
	}
	asked, found := 0, 0
	for _, ask := range random(50, len(vectors[0]), 2) {
		got := nearest(t, index, ask, 5)
		for _, one := range table.Nearest(ask, 5) {
			if asked++; slices.Contains(got, one.Number) {
				found++
			}
		}
	}
	recall := float64(found) / float64(asked)
	t.Logf("recall@5 %.3f among %d random vectors", recall, len(vectors))
	if recall < 0.85 {
		t.Errorf("recall@5 is %.3f", recall)
	}
}

func TestOneShelfNeverShowsAnothers(t *testing.T) {
	s, _ := open(t, Config{Wait: patient})
	all := random(40, 16, 3)
	none := make([]float32, 16)
	shelves := []Shelf{
		{Tenant: "one", Version: "v1", Space: "a 16"}, {Tenant: "two", Version: "v1", Space: "a 16"},
		{Tenant: "one", Version: "v2", Space: "a 16"}, {Tenant: "one", Version: "v1", Space: "b 16"},
	}
	var indexes []*Index
	for i, shelf := range shelves {
		mine := append(slices.Clone(all[10*i:10*i+10]), none) // one without a direction
		indexes = append(indexes, fill(t, s, shelf, mine))
	}
	for i, x := range indexes {
		for k, v := range all {
			near, err := x.Nearest(t.Context(), v, 50)
			if err != nil || len(near) != 10 {
				t.Fatalf("%d found in a shelf of 10, %v", len(near), err)
			}
			if exact := near[0].Likeness > 0.99; exact != (k/10 == i) || exact && near[0].Number != k%10 {
				t.Errorf("shelf %d finds vector %d of shelf %d with %+v", i, k%10, k/10, near[0])
			}
		}
		if near, err := x.Nearest(t.Context(), none, 5); near != nil || err != nil {
			t.Errorf("what has no direction finds %v, %v", near, err)
		}
		if near, err := x.Nearest(t.Context(), []float32{1}, 5); near != nil || err != nil {
			t.Errorf("a vector of another space finds %v, %v", near, err)
		}
	}
}

func TestASweepTakesWhatNobodyUses(t *testing.T) {
	s, _ := open(t, Config{Wait: patient})
	var indexes []*Index
	for i := range MaxShelves + 2 {
		indexes = append(indexes, fill(t, s, Shelf{Version: fmt.Sprint(i), Space: "a 8"}, random(3, 8, uint64(i))))
	}
	other := fill(t, s, Shelf{Tenant: "other", Version: "0", Space: "a 8"}, random(3, 8, 99))
	uses := func(x *Index) bool {
		t.Helper()
		there, err := x.Use(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	uses(indexes[0])
	if swept, err := s.Sweep(t.Context(), time.Hour); swept != 2 || err != nil {
		t.Errorf("%d beyond the bound, %v", swept, err)
	}
	if !uses(indexes[0]) || uses(indexes[1]) || uses(indexes[2]) || !uses(indexes[3]) || !uses(other) {
		t.Error("others went than those that were used longest ago")
	}
	if _, err := indexes[1].Nearest(t.Context(), random(1, 8, 1)[0], 1); !errors.Is(err, ErrAway) || !indexes[0].Open() {
		t.Errorf("a search of what has gone: %v", err)
	}
	if _, err := s.pool.Exec(t.Context(), "update sluice_vectors.shelves set used_at = used_at - interval '2 hours' where id <> $1", indexes[0].id); err != nil {
		t.Fatal(err)
	}
	if swept, err := s.Sweep(t.Context(), time.Hour); swept != MaxShelves || err != nil {
		t.Errorf("%d of %d that nobody uses, %v", swept, MaxShelves, err)
	}
	if got := nearest(t, indexes[0], random(3, 8, 0)[2], 1); !slices.Equal(got, []int{2}) {
		t.Errorf("what is used finds %d", got)
	}
	if _, err := s.pool.Exec(t.Context(), "update sluice_vectors.shelves set used_at = used_at - interval '2 hours'"); err != nil {
		t.Fatal(err)
	}
	indexes[0] = fill(t, s, Shelf{Version: "0", Space: "a 8"}, random(3, 8, 0)) // found again after a long time
	if swept, err := s.Sweep(t.Context(), time.Hour); swept != 0 || err != nil || !uses(indexes[0]) {
		t.Errorf("%d went of what was just found, %v", swept, err)
	}
	back := fill(t, s, Shelf{Version: "1", Space: "a 8"}, random(3, 8, 1)) // a rollback
	if got := nearest(t, back, random(3, 8, 1)[1], 1); !slices.Equal(got, []int{1}) {
		t.Errorf("what was brought back finds %d", got)
	}
}

func TestADatabaseThatIsStoppedIsLeftAloneAndFoundAgain(t *testing.T) {
	s, server := open(t, Config{Wait: time.Second, Cooldown: 100 * time.Millisecond})
	all := random(10, 16, 4)
	index := fill(t, s, Shelf{Version: "v1", Space: "a 16"}, all)
	fails := func(what string) {
		t.Helper()
		tries := 0
		for ; index.Open(); tries++ {
			if near, err := index.Nearest(t.Context(), all[0], 1); near != nil || !errors.Is(err, ErrAway) || tries > 5 {
				t.Fatalf("%s: %v, %v at try %d", what, near, err, tries)
			}
		}
	}
	returns := func(what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !index.Open(); time.Sleep(10 * time.Millisecond) { // real time, of a real server
			if time.Now().After(end) {
				t.Fatalf("%s: it is not found again", what)
			}
			_, _ = index.Nearest(t.Context(), all[0], 1) // a probe, or nothing
		}
		if got := nearest(t, index, all[7], 1); !slices.Equal(got, []int{7}) {
			t.Errorf("%s: vector 7 finds %d", what, got)
		}
	}
	server.Pause(t)
	fails("paused")
	server.Start(t)
	returns("goes on")
	server.Kill(t)
	fails("killed")
	server.Start(t)
	returns("started again")
}
