package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheDocumentNamesEveryFrameAndCloseCode compares what /openapi.json says of the socket
// with the source: the types that the reader obeys, those that frames are written with, and
// the constants of the codes.
func TestTheDocumentNamesEveryFrameAndCloseCode(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			Description string
			Frames      map[string]map[string]struct {
				Ref string `json:"$ref"`
			} `json:"x-frames"`
			Codes map[string]struct{ Retry bool } `json:"x-close-codes"`
		}
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	must(t, json.Unmarshal(setup(t, nil).call("GET", "/openapi.json", "", nil).raw, &doc))
	op := doc.Paths["/v1/chat"]["get"]
	obeyed, written, codes := socketSource(t)
	for side, want := range map[string]map[string]bool{"client": obeyed, "server": written} {
		if got := slices.Sorted(maps.Keys(op.Frames[side])); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("the %s's frames are %v, the document has %v", side, slices.Sorted(maps.Keys(want)), got)
		}
		for name, frame := range op.Frames[side] {
			schema := doc.Components.Schemas[strings.TrimPrefix(frame.Ref, "#/components/schemas/")]
			if enum := schema.Properties["type"].Enum; len(enum) != 1 || enum[0] != name {
				t.Errorf("the schema of the %s's %s is for the type %v", side, name, enum)
			}
			if !strings.Contains(op.Description, "| `"+name+"` |") {
				t.Errorf("the text does not name %s", name)
			}
		}
	}
	if hello := doc.Components.Schemas[strings.TrimPrefix(op.Frames["client"]["hello"].Ref, "#/components/schemas/")]; !slices.Equal(hello.Required, []string{"type", "key"}) {
		t.Errorf("a hello needs %v", hello.Required)
	}
	if got := slices.Sorted(maps.Keys(op.Codes)); !slices.Equal(got, slices.Sorted(maps.Keys(codes))) {
		t.Errorf("the codes are %v, the document has %v", slices.Sorted(maps.Keys(codes)), got)
	}
	for code, c := range op.Codes {
		if c.Retry != (code < "4500") || !strings.Contains(op.Description, "| "+code+" |") {
			t.Errorf("%s: come back: %v", code, c.Retry)
		}
	}
}

// socketSource returns the types of frames that the source reads and writes, and the codes.
func socketSource(t *testing.T) (obeyed, written, codes map[string]bool) {
	t.Helper()
	obeyed, written, codes = map[string]bool{"hello": true}, map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("socket*.go")
	must(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "obey" {
					ast.Inspect(n, func(n ast.Node) bool {
						if c, ok := n.(*ast.CaseClause); ok {
							note(obeyed, c.List)
						}
						return true
					})
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Type" {
					note(written, []ast.Expr{n.Value})
				}
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "StatusCode" {
					note(codes, n.Values)
				}
			}
			return true
		})
	}
	return obeyed, written, codes
}

// note adds the literals among some expressions.
func note(to map[string]bool, all []ast.Expr) {
	for _, e := range all {
		if lit, ok := e.(*ast.BasicLit); ok {
			text := lit.Value
			if lit.Kind == token.STRING {
				text, _ = strconv.Unquote(text)
			}
			to[text] = true
		}
	}
}
