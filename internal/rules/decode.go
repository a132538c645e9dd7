package rules

import (
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decode lays a node over what out holds already: keys of the node replace, lists
// replace as a whole, the rest stays. It refuses what out has no place for.
func (d *document) decode(node ast.Node, out reflect.Value, path string) {
	if block, ok := node.(*ast.LiteralNode); ok && block.Value != nil {
		node = block.Value
	}
	if out.Type() == reflect.TypeFor[Model]() && isText(node) {
		out = out.FieldByName("Name")
	}
	if out.Type() == reflect.TypeFor[Texts]() && node.Type() != ast.SequenceType {
		one := Texts{""}
		d.scalar(node, reflect.ValueOf(&one[0]).Elem(), path)
		out.Set(reflect.ValueOf(one))
		return
	}
	switch out.Kind() {
	case reflect.Pointer:
		d.optional(node, out, path)
	case reflect.Slice:
		d.list(node, out, path)
	case reflect.Map:
		d.table(node, out, path)
	case reflect.Struct:
		if out.Type() == reflect.TypeFor[time.Time]() {
			d.scalar(node, out, path)
			return
		}
		d.record(node, out, path)
	default:
		d.scalar(node, out, path)
	}
}

// optional reads a value that null takes away.
func (d *document) optional(node ast.Node, out reflect.Value, path string) {
	if node.Type() == ast.NullType {
		out.SetZero()
		return
	}
	out.Set(blank(out.Type().Elem()).Addr())
	d.decode(node, out.Elem(), path)
}

func (d *document) list(node ast.Node, out reflect.Value, path string) {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		d.fault(path, "must be a list, is %s", describe(node))
		return
	}
	all := reflect.MakeSlice(out.Type(), 0, len(seq.Values))
	for i, item := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.at[at] = placeOf(first(item))
		one := blank(out.Type().Elem())
		d.decode(item, one, at)
		all = reflect.Append(all, one)
	}
	out.Set(all)
}

// table reads a mapping whose keys are names. One that holds entries before has these
// and no others.
func (d *document) table(node ast.Node, out reflect.Value, path string) {
	entries, ok := d.entries(node, path)
	if !ok {
		return
	}
	closed, known := !out.IsNil(), []string(nil)
	if !closed {
		out.Set(reflect.MakeMap(out.Type()))
	}
	for _, key := range out.MapKeys() {
		known = append(known, key.String())
	}
	for _, entry := range entries {
		key := reflect.ValueOf(entry.Key.GetToken().Value).Convert(out.Type().Key())
		at := d.enter(path, entry)
		one := blank(out.Type().Elem())
		if old := out.MapIndex(key); old.IsValid() {
			one.Set(old)
		} else if closed {
			d.unknown(at, key.String(), known)
			continue
		}
		d.decode(entry.Value, one, at)
		out.SetMapIndex(key, one)
	}
}

// record reads a mapping whose keys are the fields of a struct.
func (d *document) record(node ast.Node, out reflect.Value, path string) {
	entries, ok := d.entries(node, path)
	if !ok {
		return
	}
	for _, entry := range entries {
		at := d.enter(path, entry)
		key, known := entry.Key.GetToken().Value, []string(nil)
		found := false
		for i := range out.NumField() {
			name := out.Type().Field(i).Tag.Get("yaml")
			known = append(known, name)
			if name == key {
				found = true
				d.decode(entry.Value, out.Field(i), at)
			}
		}
		if !found {
			d.unknown(at, key, known)
		}
	}
}

// entries returns the entries of a mapping. A heading with nothing under it has none.
func (d *document) entries(node ast.Node, path string) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.NullNode:
		return nil, true
	}
	d.fault(path, "must be a mapping of keys, is %s", describe(node))
	return nil, false
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// enter notes where an entry stands and returns its path.
func (d *document) enter(path string, entry *ast.MappingValueNode) string {
	key := keyIn(entry.Key.GetToken().Value)
	if path != "" {
		key = path + "." + key
	}
	d.at[key] = placeOf(entry.Key.GetToken())
	return key
}

// keyIn is a key as it stands in a path: one from outside must not break the one line of a
// fault.
func keyIn(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return fmt.Sprintf("%.40q", key)
}

// first returns the token that an item begins with; a mapping's own token is its colon.
func first(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}
