package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
)

// File is a file as it is served.
type File struct {
	Content []byte
	Gzip    []byte // the same compressed; nil where that is no smaller
}

// Names are the files that are served beside the pages.
func Names() []string { return []string{entry, "demo.css", "demo.js", "logo.svg"} }

// AdminPage is the operators' page; its files are beside it.
const AdminPage = "admin/index.html"

// AdminNames are the files of the operators' page. They are served as they are: each module
// loads those that it names.
func AdminNames() (names []string, err error) {
	err = fs.WalkDir(Files, "admin", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// Served returns a file of Names or AdminNames. The widget is made anew each time: the
// caller keeps it.
func Served(name string) (f File, err error) {
	if name == entry {
		f.Content, err = bundle()
	} else {
		f.Content, err = Files.ReadFile(name)
	}
	if err != nil {
		return File{}, err
	}
	f.Gzip, err = compressed(f.Content)
	if err != nil {
		return File{}, fmt.Errorf("compress %s: %w", name, err)
	}
	return f, nil
}

func compressed(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if out.Len() >= len(content) {
		return nil, nil
	}
	return out.Bytes(), nil
}
