package knowledge

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Passage is a part of a document that can be understood alone.
type Passage struct {
	Document string   // name
	URL      string   // of the document; empty: none
	Language string   // of the document
	Headings []string // that it stands under, the title of the document first
	Text     string
}

// Title is what the passage's document is called: its first heading, or its name.
func (p Passage) Title() string {
	if len(p.Headings) > 0 && p.Headings[0] != "" {
		return p.Headings[0]
	}
	return p.Document
}

// How long passages are, in characters: Chinese says the same in fewer.
const (
	usualEnglish = 500
	usualChinese = 300
)

// A passage shares no more than this part of its length with the one before.
const overlapPart = 4

// split cuts a document into passages: at headings, and where what stands under one is
// long, between its blocks, a long block between its sentences. The last sentence of a
// passage is the first of the next one under the same heading.
func split(d Document) []Passage {
	s := splitter{document: d, usual: usualEnglish}
	if d.Language == chat.Chinese {
		s.usual = usualChinese
	}
	switch path.Ext(d.Name) {
	case ".csv":
		s.rows()
	case ".md":
		s.markdown()
	default:
		s.plain()
	}
	return s.passages
}

// splitter gathers the blocks under a heading until they are enough for a passage.
type splitter struct {
	document Document
	usual    int
	headings []string
	levels   []int
	blocks   []string // not yet in a passage
	size     int      // characters of the blocks
	carried  bool     // the first block was in the passage before
	passages []Passage
}

// rows makes each row of CSV a block that names its columns.
func (s *splitter) rows() {
	rows, err := s.document.rows()
	if err != nil {
		return // Read has told
	}
	for _, row := range rows[1:] {
		var parts []string
		for i, field := range row {
			if field = strings.TrimSpace(field); field != "" {
				parts = append(parts, rows[0][i]+": "+field)
			}
		}
		if len(parts) > 0 {
			s.block(strings.Join(parts, "\n"), false)
			s.end(false)
		}
	}
}

func (s *splitter) plain() {
	for paragraph := range strings.SplitSeq(s.document.Text, "\n\n") {
		s.block(strings.TrimSpace(paragraph), true)
	}
	s.end(false)
}

// markdown takes each paragraph, list item and table row for a block. Rows of a table
// repeat its head, so that a row says what its figures mean wherever it is cut.
func (s *splitter) markdown() {
	var paragraph []string
	var head string
	fenced := false
	flush := func() {
		s.block(strings.Join(paragraph, "\n"), true)
		paragraph = nil
	}
	_, body := s.document.cut()
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\n")
		trimmed := strings.TrimSpace(line)
		switch level := headingLevel(line); {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
		case fenced:
			paragraph = append(paragraph, line)
		case level > 0:
			flush()
			s.heading(level, strings.TrimSpace(strings.Trim(line, "#")))
		case strings.HasPrefix(trimmed, "|"):
			flush()
			switch {
			case head == "":
				head = trimmed
			case strings.Trim(trimmed, "|-: ") != "":
				s.row(head, trimmed)
			}
			continue
		case trimmed == "":
			flush()
		case isItem(trimmed):
			flush()
			paragraph = append(paragraph, trimmed)
		default:
			paragraph = append(paragraph, trimmed)
		}
		head = ""
	}
	flush()
	s.end(false)
}

func headingLevel(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level > 6 || level == len(line) || line[level] != ' ' {
		return 0
	}
	return level
}

func isItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return true
	}
	number := strings.TrimLeft(line, "0123456789")
	return number != line && strings.HasPrefix(number, ". ")
}

// row writes a row of a table as "column: field" pairs.
func (s *splitter) row(head, row string) {
	names, fields := cells(head), cells(row)
	var parts []string
	for i, field := range fields {
		if field == "" {
			continue
		}
		if i < len(names) && names[i] != "" {
			field = names[i] + ": " + field
		}
		parts = append(parts, field)
	}
	s.block(strings.Join(parts, "; "), false)
}

func cells(row string) []string {
	all := strings.Split(strings.Trim(row, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// heading ends what stands under the last one.
func (s *splitter) heading(level int, text string) {
	s.end(false)
	for len(s.levels) > 0 && s.levels[len(s.levels)-1] >= level {
		s.levels, s.headings = s.levels[:len(s.levels)-1], s.headings[:len(s.headings)-1]
	}
	s.levels, s.headings = append(s.levels, level), append(s.headings[:len(s.headings):len(s.headings)], text)
}

// block adds a block; a passage that is full without it ends before it. Prose that is
// too long for a passage is added by its sentences.
func (s *splitter) block(text string, prose bool) {
	n := utf8.RuneCountInString(text)
	if n == 0 {
		return
	}
	if n > s.usual {
		for _, part := range sentences(text, s.usual) {
			s.add(part, prose)
		}
		return
	}
	s.add(text, prose)
}

func (s *splitter) add(text string, prose bool) {
	n := utf8.RuneCountInString(text)
	if s.size+n > s.usual {
		s.end(prose)
	}
	s.blocks, s.size = append(s.blocks, text), s.size+n
}

// end makes a passage of the blocks. If another follows in the same text, the last
// sentence is carried over.
func (s *splitter) end(follows bool) {
	if len(s.blocks) == 0 || len(s.blocks) == 1 && s.carried {
		s.blocks, s.size, s.carried = nil, 0, false
		return
	}
	s.passages = append(s.passages, Passage{
		Document: s.document.Name, URL: s.document.URL, Language: s.document.Language,
		Headings: s.headings, Text: strings.Join(s.blocks, "\n"),
	})
	last := s.blocks[len(s.blocks)-1]
	s.blocks, s.size, s.carried = nil, 0, false
	if !follows {
		return
	}
	all := sentences(last, 1)
	last = all[len(all)-1]
	if n := utf8.RuneCountInString(last); n <= s.usual/overlapPart {
		s.blocks, s.size, s.carried = []string{last}, n, true
	}
}

// sentences cuts a text after its sentences into parts of at most so many characters; a
// sentence that is longer is cut only where it is twice too long.
func sentences(text string, most int) []string {
	var parts []string
	from, size, sinceEnd, end := 0, 0, 0, 0 // end: of the last whole sentence
	runes := []rune(text)
	take := func(to int) {
		if part := strings.TrimSpace(string(runes[from:to])); part != "" {
			parts = append(parts, part)
		}
		from, size = to, 0
	}
	for i, r := range runes {
		size++
		sinceEnd++
		if size > most && end > from {
			take(end)
			size = i + 1 - from
		}
		if endsSentence(runes, i, r) {
			end, sinceEnd = i+1, 0
		}
		if sinceEnd >= longest {
			end, sinceEnd = i+1, 0
		}
	}
	if end > from && end < len(runes) && len(runes)-from > most {
		take(end)
	}
	take(len(runes))
	return parts
}

// longest is the longest sentence that stays whole.
const longest = 600

func endsSentence(runes []rune, i int, r rune) bool {
	switch r {
	case '。', '！', '？', '；', '\n':
		return true
	case '.', '!', '?':
		return i+1 == len(runes) || unicode.IsSpace(runes[i+1])
	}
	return false
}
