//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// program is a directory that holds the executables postgres and initdb.
type program struct {
	bin     string
	version string // "15.18"
	major   int
}

var versionLine = regexp.MustCompile(`^postgres \(PostgreSQL\) ((\d+)\S*)`)

// choose settles which server to run. It fetches only when nothing on the machine will do.
func choose(ctx context.Context, cfg Config) (program, error) {
	kept := fetched(cfg.Cache, pinned())
	found := installed(ctx, append(searched(), kept))
	hasData := func(p program) bool { return exists(dataDir(cfg.Dir, p.major)) }
	fetchable := func(major int) bool { return cfg.Major == major || cfg.Major == 0 }

	if cfg.Major != 0 {
		found = slices.DeleteFunc(found, func(p program) bool { return p.major != cfg.Major })
	}
	if i := slices.IndexFunc(found, hasData); i >= 0 {
		return found[i], nil
	}
	// Data of the fetched server whose programs are gone: fetch them again rather than begin an empty history.
	if len(found) > 0 && (cfg.Major != 0 || !exists(dataDir(cfg.Dir, fetchedMajor))) {
		return found[0], nil
	}
	if !fetchable(fetchedMajor) {
		return program{}, fmt.Errorf("find postgres %d: %w", cfg.Major, ErrNoServer)
	}
	cfg.Log.Info().Int("major", fetchedMajor).Msg("fetching postgres, once")
	if err := fetch(ctx, cfg.Cache, pinned()); err != nil {
		return program{}, fmt.Errorf("fetch postgres: %w: %w", err, ErrNoServer)
	}
	p, err := inspect(ctx, kept)
	if err != nil {
		return program{}, fmt.Errorf("try the fetched postgres: %w: %w", err, ErrNoServer)
	}
	return p, nil
}

// searched lists the directories where packagers put the server's programs.
func searched() []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                   // Red Hat
		"/usr/libexec/postgresql*",                           // Alpine
		"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew, Apple silicon
		"/usr/local/opt/postgresql@*/bin",                    // Homebrew, Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
		"/Library/PostgreSQL/*/bin", "/opt/PostgreSQL/*/bin", // EDB
	} {
		matches, _ := filepath.Glob(pattern) // fails on a bad pattern only
		dirs = append(dirs, matches...)
	}
	return dirs
}

// installed tries the directories and returns the usable servers, newest major first.
func installed(ctx context.Context, dirs []string) []program {
	var found []program
	for _, dir := range dirs {
		p, err := inspect(ctx, dir)
		if err != nil || p.major < oldestMajor {
			continue
		}
		found = append(found, p)
	}
	slices.SortStableFunc(found, func(a, b program) int { return b.major - a.major })
	return found
}

// inspect asks the server in dir for its version, which also proves that it can be executed at all.
func inspect(ctx context.Context, dir string) (program, error) {
	if !exists(filepath.Join(dir, "initdb")) {
		return program{}, fmt.Errorf("no initdb in %s", dir)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return program{}, fmt.Errorf("ask %s for its version: %w", dir, err)
	}
	return parseVersion(dir, string(out))
}

func parseVersion(dir, line string) (program, error) {
	m := versionLine.FindStringSubmatch(line)
	if m == nil {
		return program{}, fmt.Errorf("read version %q of %s", line, dir)
	}
	major, err := strconv.Atoi(m[2])
	if err != nil {
		return program{}, fmt.Errorf("read version %q of %s: %w", line, dir, err)
	}
	return program{bin: dir, version: m[1], major: major}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
