package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// Page is a report as one HTML page: its style is in it, and it loads nothing.
type Page struct {
	Title    string // of the window
	Sections []Section
}

// Section is one report of a page. Everything may be empty, and is left out then.
type Section struct {
	Name   string
	Word   string // the verdict
	Good   bool   // of the verdict
	Head   string
	When   string
	Faults []string
	Notes  []string
	Lines  []string
	Charts []*Chart
	Grids  []Titled
	Texts  []Text
}

// Titled is a grid with a heading, which may be empty.
type Titled struct {
	Name string
	Grid Grid
}

// Text is a piece to be copied as it is.
type Text struct{ Name, Body string }

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse report page: %w", err)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("write report page: %w", err)
	}
	return nil
}
