package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the house: which of our packages each one may import. Stages (api,
// dispatcher, worker) never import one another; main joins them.
var mayImport = map[string][]string{
	"":                           {"*"},
	"api":                        {"internal/alert", "internal/chat", "internal/faq", "internal/hook", "internal/knowledge", "internal/mask", "internal/password", "internal/pulse", "internal/queue", "internal/rules", "internal/sms", "internal/tool", "internal/trace", "web"},
	"dispatcher":                 {"internal/chat", "internal/gate", "internal/llm", "internal/queue", "internal/trace", "internal/valve"},
	"worker":                     {"internal/cache", "internal/chat", "internal/faq", "internal/hook", "internal/knowledge", "internal/llm", "internal/mask", "internal/sms", "internal/tool", "internal/trace", "internal/vector"},
	"internal/chat":              {},
	"internal/cache":             {},
	"internal/queue":             {"internal/chat"},
	"internal/queue/queuetest":   {},
	"internal/gate":              {"internal/chat"},
	"internal/llm":               {"internal/chat"},
	"internal/tool":              {"internal/chat", "internal/gate", "internal/trace"},
	"internal/hook":              {},
	"internal/alert":             {},
	"internal/bell":              {"internal/alert", "internal/hook", "internal/queue"},
	"internal/sms":               {"internal/chat"},
	"internal/intent":            {"internal/chat"},
	"internal/entity":            {"internal/chat"},
	"internal/mood":              {"internal/chat"},
	"internal/reading":           {"internal/chat", "internal/entity", "internal/mood"},
	"internal/mask":              {"internal/chat", "internal/entity"},
	"internal/eval":              {"internal/chat", "internal/faq", "internal/intent", "internal/report"},
	"internal/faq":               {"internal/chat", "internal/intent", "internal/vector"},
	"internal/knowledge":         {"internal/chat", "internal/intent", "internal/vector"},
	"internal/vector":            {},
	"internal/rules":             {"internal/chat"},
	"internal/valve":             {"internal/chat"},
	"internal/control":           {"internal/chat", "internal/gate", "internal/queue", "internal/valve"},
	"internal/pgvector":          {"internal/gate", "internal/vector"},
	"internal/pgvector/pgvtest":  {},
	"internal/pulse":             {"internal/chat", "internal/queue"},
	"internal/record":            {"internal/chat", "internal/ledger", "internal/queue"},
	"internal/ledger":            {"internal/chat", "migrations"},
	"internal/ledger/ledgertest": {"internal/ledger", "internal/pgchild"},
	"internal/password":          {},
	"internal/pgchild":           {},
	"internal/sim":               {"internal/chat"},
	"internal/metrics":           {"internal/chat"},
	"internal/report":            {},
	"internal/trace":             {"internal/chat"},
	"internal/plan":              {"internal/chat", "internal/report", "internal/rules"},
	"internal/load":              {"internal/chat", "internal/llm", "internal/report", "internal/sim"},
	"internal/drill": {
		"internal/chat", "internal/ledger", "internal/llm", "internal/load", "internal/pgchild", "internal/report", "internal/rules", "internal/sim",
	},
	"internal/badnet": {},
	"migrations":      {},
	"web":             {},
	"internal/e2e":    {},
}

// TestTheHouseKeepsItsImportTable reads every file that ships. Test files may import
// what they like: they are the ones that join real parts.
func TestTheHouseKeepsItsImportTable(t *testing.T) {
	forEachGoFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		dir := strings.TrimPrefix(path.Dir(file), ".")
		allowed, known := mayImport[dir]
		if !known {
			t.Errorf("%s: the package %q has no row in the import table", file, dir)
			return
		}
		if slices.Contains(allowed, "*") {
			return
		}
		for _, imported := range importsOf(t, file) {
			ours, found := strings.CutPrefix(imported, "sluice/")
			if found && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s, which the table does not allow", file, ours)
			}
		}
	})
}

// TestForbiddenLibrariesStayOut keeps out what docs and measurements have ruled out.
func TestForbiddenLibrariesStayOut(t *testing.T) {
	forbidden := []string{
		"github.com/tmc/langchaingo/agents", "github.com/tmc/langchaingo/memory", "github.com/tmc/langchaingo/chains",
		"github.com/tmc/langchaingo/llms/ollama", "github.com/tmc/langchaingo/vectorstores/pgvector",
	}
	forEachGoFile(t, func(file string) {
		for _, imported := range importsOf(t, file) {
			if slices.Contains(forbidden, imported) {
				t.Errorf("%s imports %s", file, imported)
			}
		}
	})
}

func forEachGoFile(t *testing.T, visit func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "data" || file != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(file, ".go") {
			visit(filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, imported)
	}
	return all
}
