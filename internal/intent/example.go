package intent

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// shippedFiles hold one message a line, by language and intent.
//
//go:embed examples
var shippedFiles embed.FS

// Shipped returns the examples that come with the program, in a fixed order.
func Shipped() ([]Example, error) {
	var all []Example
	err := fs.WalkDir(shippedFiles, "examples", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".txt" {
			return err
		}
		text, err := shippedFiles.ReadFile(file)
		if err != nil {
			return err
		}
		intent, language := strings.TrimSuffix(path.Base(file), ".txt"), path.Base(path.Dir(file))
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, Example{Text: line, Intent: intent, Language: language})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the shipped examples: %w", err)
	}
	return all, nil
}

// HoldOut parts the examples: a tenth, chosen by their text alone, is kept to judge what
// was learnt from the rest. The same text always falls on the same side.
func HoldOut(examples []Example) (learn, judge []Example) {
	for _, e := range examples {
		if andRunes(hash(0, 0), []rune(fold(e.Text)))>>20%10 == 0 {
			judge = append(judge, e)
		} else {
			learn = append(learn, e)
		}
	}
	return learn, judge
}
