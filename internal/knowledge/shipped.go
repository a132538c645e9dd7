package knowledge

import (
	"bytes"
	"embed"
	"fmt"
	"path"
)

// shopFiles are the policies and manuals of a shop for furniture and household goods.
//
//go:embed shop
var shopFiles embed.FS

// Shipped returns the documents that come with the program, in a fixed order.
func Shipped() ([]Document, error) {
	files, err := shopFiles.ReadDir("shop")
	if err != nil {
		return nil, fmt.Errorf("read the shipped documents: %w", err)
	}
	var all []Document
	for _, file := range files {
		text, err := shopFiles.ReadFile(path.Join("shop", file.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the shipped documents: %w", err)
		}
		d, err := Read(file.Name(), bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
