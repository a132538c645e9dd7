package rules

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// scalar reads one value by what the field is, never by what YAML would guess.
func (d *document) scalar(node ast.Node, out reflect.Value, path string) {
	text, isScalar := "", false
	if s, ok := node.(ast.ScalarNode); ok && node.Type() != ast.NullType {
		text, isScalar = s.GetToken().Value, true
	}
	want := ""
	switch out.Interface().(type) {
	case time.Duration:
		span, err := parseDuration(text)
		if want = "a duration such as 10s, 5m or 90d"; isScalar && err == nil {
			out.SetInt(int64(span))
			return
		}
	case time.Time:
		at, err := time.Parse(time.RFC3339, text)
		if want = "a time such as 2026-01-31T18:00:00Z"; isScalar && err == nil {
			out.Set(reflect.ValueOf(at))
			return
		}
	default:
		if want = d.basic(node, out, text); want == "" {
			return
		}
	}
	d.fault(path, "must be %s, is %s", want, describe(node))
}

// basic reads a text, a truth value or a number. It returns what it wanted when the
// node is none.
func (d *document) basic(node ast.Node, out reflect.Value, text string) string {
	switch out.Kind() {
	case reflect.String:
		if isText(node) {
			out.SetString(text)
			return ""
		}
		return "a text (in quotes if need be)"
	case reflect.Bool:
		if node.Type() == ast.BoolType {
			out.SetBool(strings.EqualFold(text, "true"))
			return ""
		}
		return "true or false"
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if node.Type() == ast.IntegerType && err == nil && n >= -maxCount && n <= maxCount {
			out.SetInt(int64(n))
			return ""
		}
		return fmt.Sprintf("a whole number of at most %d", maxCount)
	default:
		f, err := strconv.ParseFloat(text, 64)
		number := node.Type() == ast.IntegerType || node.Type() == ast.FloatType
		if number && err == nil && math.Abs(f) <= maxCount {
			out.SetFloat(f)
			return ""
		}
		return "a number such as 0.5"
	}
}

// maxCount bounds every number, so that no product of two overflows.
const maxCount = 1_000_000_000

// isText reports whether a node is a text and nothing else: "true" and "12" without
// quotes are not.
func isText(node ast.Node) bool { return node.Type() == ast.StringType }

// describe says what a node is, briefly: the document may hold long texts.
func describe(node ast.Node) string {
	switch node.Type() {
	case ast.NullType:
		return "empty"
	case ast.SequenceType:
		return "a list"
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.StringType:
		return quote(node.GetToken().Value)
	}
	return fmt.Sprintf("%.40s", node.GetToken().Value)
}

// quote shows a text of the document in one short line.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		s = string(runes[:40]) + "…"
	}
	return strconv.Quote(s)
}

var (
	days   = regexp.MustCompile(`^([0-9]{1,6})d(.*)$`)
	errBig = errors.New("must be at most 36500d")
)

const maxDays = 36_500 // a century: far from where time.Duration overflows

// parseDuration reads a Go duration that may begin with whole days: 90d, 1d12h.
func parseDuration(s string) (time.Duration, error) {
	var span time.Duration
	rest := s
	if m := days.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > maxDays {
			return 0, errBig
		}
		span, rest = time.Duration(n)*24*time.Hour, m[2]
		if rest == "" {
			return span, nil
		}
	}
	more, err := time.ParseDuration(rest)
	if err != nil {
		return 0, err
	}
	if more > maxDays*24*time.Hour || more < -maxDays*24*time.Hour {
		return 0, errBig
	}
	return span + more, nil
}
