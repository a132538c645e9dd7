//go:build unix

package pgchild

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Bounds of an archive; the pinned one has 1,029 files and 60 MB.
const (
	maxFiles = 10_000
	maxBytes = 256 << 20
)

var errTooLarge = errors.New("archive is larger than any that is expected")

// unpack writes the native part of an npm archive below dir, and the links that npm archives cannot hold. Everything
// goes through an os.Root, so no name in the archive can reach outside dir.
func unpack(r io.Reader, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer func() { _ = root.Close() }() // every file is closed by itself
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	archived, left := tar.NewReader(unzipped), int64(maxBytes)
	for files := 0; ; files++ {
		header, err := archived.Next()
		if errors.Is(err, io.EOF) {
			return link(root)
		}
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		name, native := strings.CutPrefix(path.Clean(header.Name), "package/native/")
		if left -= header.Size; left < 0 || files >= maxFiles {
			return errTooLarge
		}
		if !native || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := write(root, "native/"+name, header, archived); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func write(root *os.Root, name string, header *tar.Header, r io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if header.FileInfo().Mode()&0o100 != 0 {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, r, header.Size)
	return errors.Join(err, f.Close())
}

// link makes the symbolic links that the package lists instead of carrying them.
func link(root *os.Root) error {
	text, err := root.ReadFile("native/pg-symlinks.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("link %s to %s: leads outside", l.Target, l.Source)
		}
		to, err := filepath.Rel(path.Dir(l.Target), l.Source)
		if err != nil {
			return fmt.Errorf("link %s to %s: %w", l.Target, l.Source, err)
		}
		if err := root.Symlink(to, l.Target); err != nil {
			return fmt.Errorf("link: %w", err)
		}
	}
	return nil
}
