//go:build unix

package pgchild

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	readyFor     = time.Minute            // the longest a start may take; it may have a log to replay
	firstBackOff = 100 * time.Millisecond // before a restart; doubles
	lastBackOff  = 10 * time.Second
	steadyFor    = 30 * time.Second // a server that ran this long restarts at once again
)

// Server is a running child. URL and Version are safe for concurrent use; Run is called once, and must be called to
// stop the server before the process ends.
type Server struct {
	cfg     Config
	program program
	who     identity
	home    string // of this major version
	data    string
	sockets string
	running *process // Open's, then Run's
}

// Open finds or fetches a server, makes its data directory at the first start, stops what a killed process may have
// left running there, and returns once the database accepts connections. The error is ErrNoServer where none is to be
// had; that of another kind tells what the server said. Afterwards Run looks after the server.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p, err := choose(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, program: p, home: homeDir(cfg.Dir, p.major), data: dataDir(cfg.Dir, p.major)}
	s.warnOfOtherMajors()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		_ = os.RemoveAll(s.sockets) // the server is gone; the start's error is the one to tell
		return nil, err
	}
	cfg.Log.Info().Str("version", p.version).Dur("took_ms", time.Since(began)).Msg("private postgres ready")
	return s, nil
}

// URL is the connection string of the database, for pgx. It stays the same over restarts of the server.
func (s *Server) URL() string { return s.address(database) }

// Version is the server's own, such as "15.18".
func (s *Server) Version() string { return s.program.version }

// Run restarts the server when it dies, with growing pauses, and blocks until ctx ends; then it stops the server in
// good order and returns. The error tells that the server had to be ended by force: nothing committed is lost, its next
// start takes longer.
func (s *Server) Run(ctx context.Context) error {
	defer func() { _ = os.RemoveAll(s.sockets) }() // made anew by the next start
	pause, began := firstBackOff, time.Now()
	for {
		select {
		case <-ctx.Done():
			if !s.running.stop() {
				return errors.New("stop postgres: ended by force")
			}
			s.cfg.Log.Info().Msg("private postgres stopped")
			return nil
		case <-s.running.done:
		}
		if time.Since(began) > steadyFor {
			pause = firstBackOff
		}
		s.cfg.Log.Warn().AnErr("err", s.running.err).Str("said", s.running.said.tail()).Dur("again_ms", pause).
			Msg("postgres died")
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil
		case <-wait.C:
		}
		pause, began = min(2*pause, lastBackOff), time.Now()
		if err := clearLeftover(ctx, s.data); err != nil {
			s.cfg.Log.Warn().Err(err).Msg("look for a leftover of postgres")
		}
		s.running = s.launch()
	}
}

// warnOfOtherMajors says where history is that this server cannot read. It is never touched.
func (s *Server) warnOfOtherMajors() {
	if exists(s.data) {
		return
	}
	entries, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return // nothing there yet
	}
	for _, e := range entries {
		// What a killed first start left behind holds nothing.
		if strings.HasPrefix(e.Name(), "pg") && exists(filepath.Join(s.cfg.Dir, e.Name(), "data")) {
			s.cfg.Log.Warn().Str("kept", e.Name()).Int("major", s.program.major).
				Msg("history of another PostgreSQL version is kept but not read: install that version, or dump and restore")
		}
	}
}

func (s *Server) prepare(ctx context.Context) error {
	// Passable for the server's account; what holds data is closed one level below.
	if err := os.MkdirAll(s.home, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", s.home, err)
	}
	var err error
	if s.who, err = identify(ctx, s.program, s.home); err != nil {
		return err
	}
	if err := clearLeftover(ctx, s.data); err != nil {
		return err
	}
	if err := s.initdb(ctx); err != nil {
		return err
	}
	return s.makeSocketDir()
}

func (s *Server) launch() *process {
	return spawn(s.command("postgres", s.serverArgs()...), &lines{log: s.cfg.Log})
}

// start brings the server up and makes the database. A server whose backends outlive a killed postmaster for a moment
// is tried again.
func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyFor)
	defer cancel()
	for {
		s.running = s.launch()
		var refused error
		ready, _ := poll(ctx, readyFor, func() bool {
			if !s.ended() {
				refused = s.createDatabase(ctx)
			}
			return s.ended() || refused == nil
		})
		if ready && !s.ended() {
			return nil
		}
		died := s.ended()
		s.running.stop()
		said := s.running.said.tail()
		switch {
		case ctx.Err() != nil || !died:
			return fmt.Errorf("start postgres: %w: %s", errors.Join(ctx.Err(), refused), said)
		case !strings.Contains(said, "shared memory block"):
			return fmt.Errorf("start postgres: %w: %s", s.running.err, said)
		}
	}
}

func (s *Server) ended() bool {
	select {
	case <-s.running.done:
		return true
	default:
		return false
	}
}

func (s *Server) address(name string) string {
	query := url.Values{"host": {s.sockets}, "port": {"5432"}, "user": {role}, "sslmode": {"disable"}}
	return "postgres:///" + name + "?" + query.Encode()
}

// createDatabase makes the database unless it is there. It fails while the server does not accept connections.
func (s *Server) createDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there, folds bool
	err = conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1), lower('Ä') = 'ä'`, database).
		Scan(&there, &folds)
	if err != nil {
		return err
	}
	if !folds {
		s.cfg.Log.Warn().Msg("this PostgreSQL does not fold letters beyond ASCII: searches of history tell Ä from ä")
	}
	if there {
		return nil
	}
	_, err = conn.Exec(ctx, "create database "+database)
	return err
}
