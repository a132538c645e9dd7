package faq

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/intent"
)

func entriesOf(t testing.TB) []Entry {
	t.Helper()
	entries, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func othersOf(t testing.TB, entries []Entry) []Labelled {
	t.Helper()
	f, err := os.Open("testdata/others.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := ReadLabelled("others.csv", f, entries)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var intents = sync.OnceValues(func() (*intent.Model, error) {
	judged, err := os.ReadFile("testdata/others.csv")
	if err != nil {
		return nil, err
	}
	examples, err := intent.Shipped()
	if err != nil {
		return nil, err
	}
	examples = slices.DeleteFunc(examples, func(e intent.Example) bool {
		return strings.Contains(string(judged), strings.ReplaceAll(e.Text, `"`, `""`))
	})
	return intent.Train(context.Background(), examples, nil)
})

func intentsOf(t testing.TB) *intent.Model {
	t.Helper()
	m, err := intents()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var shop = sync.OnceValues(func() (*Base, error) {
	entries, err := Shipped()
	if err != nil {
		return nil, err
	}
	m, err := intents()
	if err != nil {
		return nil, err
	}
	return Build(context.Background(), entries, m)
})

func shopOf(t testing.TB) *Base {
	t.Helper()
	b, err := shop()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
