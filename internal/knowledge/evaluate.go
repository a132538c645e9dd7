package knowledge

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Question is a question with where its answer stands.
type Question struct {
	Text     string
	Document string // name
	Contains string // words of the passage that answers
	Language string
}

// ReadQuestions reads questions: CSV with the columns text, document, contains and lang.
// Each fault names the file and the line.
func ReadQuestions(name string, r io.Reader) ([]Question, error) {
	rows := csv.NewReader(r)
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !slices.Equal(head, []string{"text", "document", "contains", "lang"}) {
		return nil, fmt.Errorf("%s:1: must have the columns text, document, contains and lang, has %s", name, strings.Join(head, ", "))
	}
	var all []Question
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return all, nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, Question{Text: row[0], Document: row[1], Contains: row[2], Language: row[3]})
	}
}

// Score says how well the passages that answer are found.
type Score struct {
	Questions int     `json:"questions"`
	Recall1   float64 `json:"recall1"`  // part of the questions whose passage comes first
	Recall3   float64 `json:"recall3"`  // part whose passage is among the first three
	Document  float64 `json:"document"` // part whose first passage is of the right document
}

// Evaluate searches for each question and compares, by language.
func Evaluate(x *Index, questions []Question) map[string]Score {
	return EvaluateBy(questions, func(q Question, n int) []Hit { return x.Search(q.Text, q.Language, n) })
}

// EvaluateBy is Evaluate with a search of the caller's.
func EvaluateBy(questions []Question, search func(q Question, n int) []Hit) map[string]Score {
	scores := map[string]Score{}
	for _, q := range questions {
		s := scores[q.Language]
		s.Questions++
		hits := search(q, 3)
		for i, h := range hits {
			if h.Document == q.Document && (strings.Contains(h.Text, q.Contains) || strings.Contains(strings.Join(h.Headings, "\n"), q.Contains)) {
				s.Recall3++
				if i == 0 {
					s.Recall1++
				}
				break
			}
		}
		if len(hits) > 0 && hits[0].Document == q.Document {
			s.Document++
		}
		scores[q.Language] = s
	}
	for language, s := range scores {
		n := float64(s.Questions)
		s.Recall1, s.Recall3, s.Document = s.Recall1/n, s.Recall3/n, s.Document/n
		scores[language] = s
	}
	return scores
}

// Covered returns the part of the questions that have a passage among the first n which
// covers at least so much of them: what a threshold lets through.
func Covered(x *Index, questions []Question, n int, threshold float64) float64 {
	through := 0
	for _, q := range questions {
		if slices.ContainsFunc(x.Search(q.Text, q.Language, n), func(h Hit) bool { return h.Covered >= threshold }) {
			through++
		}
	}
	return float64(through) / float64(max(1, len(questions)))
}
