//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	role     = "sluice"
	database = "sluice"
	// longestSocket is what fits into a unix socket address on every system, the file's name included.
	longestSocket = 103
	socketName    = ".s.PGSQL.5432"
)

// homeDir is everything of one major version, so that no server ever meets the data of another.
func homeDir(dir string, major int) string { return filepath.Join(dir, "pg"+strconv.Itoa(major)) }

func dataDir(dir string, major int) string { return filepath.Join(homeDir(dir, major), "data") }

// locales lists, best first, what makes text fold and sort the same everywhere. The "C" locale would start anywhere,
// but leaves 'Ä' as it is, and a search misses it.
func locales(major int) [][]string {
	if major >= 17 {
		return [][]string{{"--locale-provider=builtin", "--builtin-locale=C.UTF-8"}}
	}
	return [][]string{{"--locale=C.UTF-8"}, {"--locale=en_US.UTF-8"}}
}

// initdb makes the data directory, aside and then by one rename: a killed first start leaves nothing half made.
func (s *Server) initdb(ctx context.Context) error {
	if exists(s.data) {
		return s.who.own(s.data)
	}
	began := time.Now()
	fresh := s.data + ".new"
	var faults []error
	for _, locale := range locales(s.program.major) {
		if err := os.RemoveAll(fresh); err != nil {
			return fmt.Errorf("clear %s: %w", fresh, err)
		}
		if err := os.Mkdir(fresh, 0o700); err != nil {
			return fmt.Errorf("make data directory: %w", err)
		}
		if err := s.who.own(fresh); err != nil {
			return err
		}
		err := s.runInitdb(ctx, fresh, locale)
		if err == nil {
			s.cfg.Log.Info().Dur("took_ms", time.Since(began)).Msg("postgres data directory made")
			return os.Rename(fresh, s.data)
		}
		faults = append(faults, err)
	}
	return fmt.Errorf("make data directory: %w", errors.Join(faults...))
}

func (s *Server) runInitdb(ctx context.Context, dir string, locale []string) error {
	args := append([]string{
		"--pgdata=" + dir, "--username=" + role, "--encoding=UTF8", "--auth-local=trust", "--auth-host=reject",
		"--no-instructions",
	}, locale...)
	if s.cfg.Unsafe {
		args = append(args, "--no-sync")
	}
	said := &lines{log: s.cfg.Log}
	p := spawn(s.command("initdb", args...), said)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.stop()
		return ctx.Err()
	}
	if p.err != nil {
		return fmt.Errorf("initdb %s: %w: %s", strings.Join(locale, " "), p.err, said.tail())
	}
	return nil
}

// command runs a program of the server as its identity. The environment is bare: PGDATA and the like of the user's
// own server must not reach this one, and its messages should be in English.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.program.bin, name), args...)
	cmd.Dir = s.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = s.who.attr()
	return cmd
}

// serverArgs has the server listen on the socket alone, and say nothing that could hold a customer's words: failing
// statements and their details stay out of the log.
func (s *Server) serverArgs() []string {
	settings := []string{
		"listen_addresses=", "unix_socket_permissions=0700", "logging_collector=off", "log_destination=stderr",
		"log_min_messages=log", "log_min_error_statement=panic", "log_error_verbosity=terse", "timezone=UTC",
	}
	if s.cfg.Unsafe {
		settings = append(settings, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
	}
	args := []string{"-D", s.data, "-k", s.sockets, "-p", "5432"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// makeSocketDir makes the directory of the socket, beside the data when that path is short enough, else in a temporary
// directory. It holds no socket or lock file of a former server: their process ids may have been given away since.
func (s *Server) makeSocketDir() error {
	s.sockets = filepath.Join(s.home, "run")
	if err := os.RemoveAll(s.sockets); err != nil {
		return fmt.Errorf("clear socket directory: %w", err)
	}
	// A comma separates directories in the server's setting and hosts in the client's.
	if len(s.sockets)+1+len(socketName) <= longestSocket && !strings.Contains(s.sockets, ",") {
		if err := os.Mkdir(s.sockets, 0o700); err != nil {
			return fmt.Errorf("make socket directory: %w", err)
		}
		return s.who.own(s.sockets)
	}
	var err error
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		s.sockets, err = os.MkdirTemp(parent, "sluice-pg-")
		if err != nil {
			return fmt.Errorf("make socket directory: %w", err)
		}
		if len(s.sockets)+1+len(socketName) <= longestSocket {
			return s.who.own(s.sockets)
		}
		_ = os.Remove(s.sockets) // empty, and of no use
	}
	return fmt.Errorf("make socket directory: %s is too long a path", s.sockets)
}
