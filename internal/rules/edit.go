package rules

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Errors of an edit.
var (
	// ErrNoVendor says that the document itself has no vendor of that name.
	ErrNoVendor = errors.New("the document names no such vendor")
	// ErrLayout says that the value cannot be changed in place: the whole document has to
	// be written anew by whoever knows what it looks like.
	ErrLayout = errors.New("the document's layout does not let this value be changed in place")
)

// VendorChange is what may be changed of a vendor by itself; nil: as it is.
type VendorChange struct {
	Quota           *int
	Headroom        *float64
	Elastic         *float64
	QPS             *int
	TokensPerMinute *int
}

// WithForce returns the document with another valve.force, nil for none. All else keeps
// its text, comments included. The document must be valid.
func WithForce(doc []byte, f *Force) ([]byte, error) {
	value := "null"
	if f != nil {
		value = fmt.Sprintf("{level: %d, until: %s}", f.Level, f.Until.UTC().Format(time.RFC3339Nano))
	}
	return edit(doc, func(r *Rules) {
		if r.Valve.Force = f; f != nil {
			r.Valve.Force = &Force{Level: f.Level, Until: f.Until.UTC()}
		}
	}, setting{[]string{"valve", "force"}, value})
}

// WithVendor returns the document with other numbers of one vendor. All else keeps its
// text, comments included. The document must be valid.
func WithVendor(doc []byte, name string, c VendorChange) ([]byte, error) {
	i, err := vendorIndex(doc, name)
	if err != nil {
		return nil, err
	}
	var all []setting
	set := func(field, value string) {
		all = append(all, setting{[]string{"vendors", strconv.Itoa(i), field}, value})
	}
	for field, n := range map[string]*int{"quota": c.Quota, "qps": c.QPS, "tokens_per_minute": c.TokensPerMinute} {
		if n != nil {
			set(field, strconv.Itoa(*n))
		}
	}
	for field, f := range map[string]*float64{"headroom": c.Headroom, "elastic": c.Elastic} {
		if f != nil {
			set(field, strconv.FormatFloat(*f, 'f', -1, 64))
		}
	}
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.path[2], b.path[2]) })
	return edit(doc, func(r *Rules) { c.apply(&r.Vendors[i]) }, all...)
}

func (c VendorChange) apply(v *Vendor) {
	replace(&v.Quota, c.Quota)
	replace(&v.Headroom, c.Headroom)
	replace(&v.Elastic, c.Elastic)
	replace(&v.QPS, c.QPS)
	replace(&v.TokensPerMinute, c.TokensPerMinute)
}

func replace[T any](old, by *T) {
	if by != nil {
		*old = *by
	}
}

// vendorIndex returns a vendor's place in the document's own list.
func vendorIndex(doc []byte, name string) (int, error) {
	r, err := Parse("rules", doc)
	if err != nil {
		return 0, err
	}
	d := &document{at: map[string]place{}}
	root := d.parse(doc)
	if entry(root, "vendors") == nil {
		return 0, ErrNoVendor // the shipped ones stand in
	}
	i := slices.Index(names(r.Vendors), name)
	if i < 0 {
		return 0, ErrNoVendor
	}
	return i, nil
}

// setting is one value to be put into a document.
type setting struct {
	path  []string // keys, and indices of lists
	value string   // YAML in flow style, on one line
}

// edit puts settings into the text, and lets it through only if its rules are the former
// ones with the change: whatever the layout, nothing else has changed.
func edit(doc []byte, change func(*Rules), settings ...setting) ([]byte, error) {
	want, err := Parse("rules", doc)
	if err != nil {
		return nil, err
	}
	change(want)
	next := plainText(doc)
	for _, s := range settings {
		if next, err = put(next, s); err != nil {
			return nil, err
		}
	}
	got, err := Parse("rules", next)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(got, want) {
		return nil, ErrLayout
	}
	return next, nil
}

// plainText brings line ends into the one form that places are counted in.
func plainText(doc []byte) []byte {
	doc = bytes.ReplaceAll(doc, []byte("\r\n"), []byte("\n"))
	doc = bytes.ReplaceAll(doc, []byte("\r"), []byte("\n"))
	return bytes.TrimPrefix(doc, []byte("\ufeff"))
}

// put writes one value over the present one, or adds it to what should hold it.
func put(doc []byte, s setting) ([]byte, error) {
	d := &document{at: map[string]place{}}
	root := d.parse(doc)
	if len(d.faults) > 0 {
		return nil, d.err()
	}
	node, parent := root, ast.Node(nil)
	for i, key := range s.path {
		parent = node
		if list, ok := parent.(*ast.SequenceNode); ok {
			at, err := strconv.Atoi(key)
			if err != nil || at >= len(list.Values) {
				return nil, ErrLayout
			}
			node = list.Values[at]
			continue
		}
		pair := entry(parent, key)
		if pair == nil || pair.Value.Type() == ast.NullType && i < len(s.path)-1 {
			return add(doc, parent, pair, s.path[i:], s.value)
		}
		if node = pair.Value; i == len(s.path)-1 {
			return overwrite(doc, pair, s.value), nil
		}
	}
	return nil, ErrLayout
}

// entry returns an entry of a mapping, or nil.
func entry(node ast.Node, key string) *ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if pair.Key.GetToken().Value == key {
				return pair
			}
		}
	case *ast.MappingValueNode:
		if n.Key.GetToken().Value == key {
			return n
		}
	}
	return nil
}
