package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
)

// File is a file as it is served.
type File struct {
	Content []byte
	Gzip    []byte // the same compressed; nil where that is no smaller
}

// Names are the files that are served beside the pages.
func Names() []string { return []string{entry, "demo.css", "demo.js", "logo.svg"} }

// Served returns a file of Names. The widget is made anew each time: the caller keeps it.
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
