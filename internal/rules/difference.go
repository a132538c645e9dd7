package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// How many values of a difference are shown, and how many characters of each.
const (
	shownValues = 40
	shownText   = 80
)

// Differences returns what differs between two valid documents, by path, such as
// vendors[a].quota: the values before and those after. A path that only one of them has is
// missing in the other. Comments and layout are no difference. Beyond 40 paths "…" says how
// many more there are. A document that cannot be read counts as empty.
func Differences(before, after []byte) (was, is map[string]any) {
	a, b := flat(before), flat(after)
	was, is = map[string]any{}, map[string]any{}
	var paths []string
	for path, value := range a {
		if other, found := b[path]; !found || other != value {
			paths = append(paths, path)
		}
	}
	for path := range b {
		if _, found := a[path]; !found {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for i, path := range paths {
		if i == shownValues {
			is["…"] = fmt.Sprintf("and %d more", len(paths)-i)
			break
		}
		if value, found := a[path]; found {
			was[path] = value
		}
		if value, found := b[path]; found {
			is[path] = value
		}
	}
	return was, is
}

// flat returns the scalars of a document by their paths.
func flat(doc []byte) map[string]any {
	all := map[string]any{}
	var tree any
	if err := yaml.Unmarshal(doc, &tree); err == nil {
		flatten(all, "", tree)
	}
	return all
}

func flatten(all map[string]any, path string, node any) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			flatten(all, strings.TrimPrefix(path+"."+key, "."), value)
		}
	case []any:
		var order []string
		for i, value := range node {
			key := fmt.Sprint(i)
			if one, ok := value.(map[string]any); ok {
				if name, ok := one["name"].(string); ok {
					key = name
					order = append(order, name)
				}
			}
			flatten(all, path+"["+key+"]", value)
		}
		if len(order) > 0 {
			all[path] = short(strings.Join(order, ", ")) // their order counts
		}
	case nil:
		if path != "" { // else the document is empty
			all[path] = "null"
		}
	case string:
		all[path] = short(node)
	default:
		all[path] = fmt.Sprint(node)
	}
}

// short cuts a text; of a secret nothing is in a document, only names of variables.
func short(s string) string {
	if r := []rune(s); len(r) > shownText {
		return string(r[:shownText]) + "…"
	}
	return s
}
