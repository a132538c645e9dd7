package eval

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/chat"
	"sluice/internal/intent"
)

// maxFaults bounds how many lines are named.
const maxFaults = 20

// Intents reads labelled messages: CSV with a head, the columns text and intent, and
// lang where there is one; others are passed over. Labels must be among the known ones.
// Each fault names the file and the line.
func Intents(name string, r io.Reader, known []string) ([]intent.Example, error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = -1
	head, err := rows.Read()
	if err != nil {
		return nil, unreadable(name, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	text, label, lang := slices.Index(head, "text"), slices.Index(head, "intent"), slices.Index(head, "lang")
	if text < 0 || label < 0 {
		return nil, fmt.Errorf("%s:1: must have the columns text and intent, has %s", name, strings.Join(head, ", "))
	}
	var all []intent.Example
	var faults []error
	for len(faults) < maxFaults {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, errors.Join(append(faults, unreadable(name, err))...)
		}
		line, _ := rows.FieldPos(0)
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
		}
		switch {
		case len(row) != len(head):
			fault("must have %d fields like the head, has %d", len(head), len(row))
		case !utf8.ValidString(row[text]):
			fault("text must be valid UTF-8")
		case strings.TrimSpace(row[text]) == "":
			fault("text must not be blank")
		case !slices.Contains(known, row[label]):
			fault("intent must be one of the rules', is %q", row[label])
		default:
			e := intent.Example{Text: row[text], Intent: row[label], Language: chat.Language(row[text], "")}
			if lang >= 0 && row[lang] != "" {
				e.Language = row[lang]
			}
			all = append(all, e)
		}
	}
	if len(faults) == 0 && len(all) == 0 {
		faults = append(faults, fmt.Errorf("%s:2: must hold at least one message", name))
	}
	return all, errors.Join(faults...)
}

func unreadable(name string, err error) error {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
	}
	if err == io.EOF {
		return fmt.Errorf("%s:1: is empty", name)
	}
	return fmt.Errorf("read %s: %w", name, err)
}
