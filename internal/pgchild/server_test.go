//go:build unix

package pgchild

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestServerKeepsRowsOverAWarmStart(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	s, stop := open(t, testConfig(dir))
	mustExec(t, s.URL(), "create table kept as select generate_series(1, 1000) n")
	if got := query[string](t, s.URL(), "show server_version"); !strings.HasPrefix(got, s.Version()) {
		t.Errorf("server says %q, Version says %q", got, s.Version())
	}
	stop()
	if left, _ := filepath.Glob(filepath.Join(dir, "pg*", "data", "postmaster.pid")); left != nil {
		t.Errorf("stopped out of order: %v is left", left)
	}
	s, _ = open(t, testConfig(dir))
	if got := query[int](t, s.URL(), "select count(*) from kept"); got != 1000 {
		t.Errorf("%d rows, want 1000", got)
	}
}

func TestServerFoldsLettersBeyondASCII(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testConfig(shortDir(t)))
	for _, sql := range []string{
		`select lower('ÄÖÉ') = 'äöé'`, `select 'Äpfel' ilike '%äPFEL%'`, `select to_tsvector('simple', 'Äpfel')::text = '''äpfel'':1'`,
	} {
		if !query[bool](t, s.URL(), sql) {
			t.Errorf("%s: false", sql)
		}
	}
}

func TestServerListensOnNoPort(t *testing.T) {
	t.Parallel()
	s, _ := open(t, testConfig(shortDir(t)))
	if got := query[string](t, s.URL(), "show listen_addresses"); got != "" {
		t.Errorf("listens on %q", got)
	}
	info, err := os.Stat(s.sockets)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("socket directory: %v, %v", info.Mode(), err)
	}
}

func TestRunRestartsAKilledPostmaster(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	cfg.Unsafe = false
	s, _ := open(t, cfg)
	mustExec(t, s.URL(), "create table kept as select generate_series(1, 20000) n")
	for range 2 {
		killed := postmaster(t, cfg.Dir)
		kill9(t, killed)
		await(t, "restart", func() bool {
			return exec1(t.Context(), s.URL(), "select 1") == nil && postmaster(t, cfg.Dir) != killed
		})
		if got := query[int](t, s.URL(), "select count(*) from kept"); got != 20000 {
			t.Errorf("%d rows, want 20000", got)
		}
	}
}

func TestServerEndsWithAKilledSupervisor(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childDir+"="+cfg.Dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("supervisor says %q", line)
	}
	pid := postmaster(t, cfg.Dir)
	kill9(t, child.Process.Pid)
	_ = child.Wait()

	major := anyProgram(t).major
	if runtime.GOOS == "linux" { // elsewhere the next start ends what it finds
		await(t, "end of postgres", func() bool { return !serves(pid, dataDir(cfg.Dir, major)) })
	}
	s, _ := open(t, cfg)
	if serves(pid, s.data) {
		t.Errorf("postgres %d outlived its supervisor", pid)
	}
	mustExec(t, s.URL(), "select 1")
}

func TestOpenEndsAServerThatOutlivedItsSupervisor(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	former, stop := open(t, cfg)
	mustExec(t, former.URL(), "create table kept (n int)")
	pid := postmaster(t, cfg.Dir)
	if err := clearLeftover(t.Context(), former.data); err != nil {
		t.Fatal(err)
	}
	if serves(pid, former.data) {
		t.Errorf("postgres %d is still there", pid)
	}
	stop()
	s, _ := open(t, cfg)
	mustExec(t, s.URL(), "insert into kept values (1)")
}

func TestOpenPassesAPidFileOfARecycledNumber(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	s, stop := open(t, cfg)
	stop()
	stale := strconv.Itoa(sleeper(t)) + "\n" + s.data + "\n1700000000\n5432\n" + s.sockets + "\n\n  1 1\nready\n"
	path := filepath.Join(s.data, "postmaster.pid")
	if err := errors.Join(os.WriteFile(path, []byte(stale), 0o600), s.who.own(path)); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, cfg)
	mustExec(t, s.URL(), "select 1")
}

func TestOpenPassesAHalfWrittenPidFile(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	s, stop := open(t, cfg)
	stop()
	if err := os.WriteFile(filepath.Join(s.data, "postmaster.pid"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, cfg)
}

func TestOpenLeavesTheDataOfAnotherMajorAlone(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	other := filepath.Join(cfg.Dir, "pg14", "data")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(other, "PG_VERSION")
	if err := os.WriteFile(marker, []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := must(os.Stat(marker))
	_, stop := open(t, cfg)
	stop()
	if after := must(os.Stat(marker)); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("data of the other major version was touched")
	}
}

func TestOpenBeginsAnewAfterAKilledFirstStart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	half := dataDir(cfg.Dir, anyProgram(t).major) + ".new"
	if err := os.MkdirAll(filepath.Join(half, "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, _ := open(t, cfg)
	if exists(half) || !exists(filepath.Join(s.data, "PG_VERSION")) {
		t.Error("the half made directory is still there")
	}
}

func TestOpenFindsAShortPathForTheSocket(t *testing.T) {
	t.Parallel()
	cfg := testConfig(filepath.Join(shortDir(t), strings.Repeat("long/", 24)))
	s, stop := open(t, cfg)
	mustExec(t, s.URL(), "select 1")
	stop()
	if strings.HasPrefix(s.sockets, cfg.Dir) || exists(s.sockets) {
		t.Errorf("socket directory %s: not elsewhere, or left behind", s.sockets)
	}
}

func TestOpenInADirectoryThatIsRootsAlone(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	cfg := testConfig(filepath.Join(dir, "data"))
	s, stop := open(t, cfg)
	mustExec(t, s.URL(), "create table kept (n int)")
	stop()
	// As root the account of the server cannot pass any more, so its files change hands; for other users nothing changes.
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, stop = open(t, cfg)
	mustExec(t, s.URL(), "insert into kept values (1)")
	if os.Geteuid() == 0 && !s.who.mapped {
		t.Error("root passed a closed directory without a user namespace")
	}
	stop()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, cfg)
	mustExec(t, s.URL(), "insert into kept values (2)")
}

func TestOpenSaysTheCuresWhenThereIsNoServer(t *testing.T) {
	t.Parallel()
	cfg := testConfig(shortDir(t))
	cfg.Major = 99
	_, err := Open(t.Context(), cfg)
	if !errors.Is(err, ErrNoServer) {
		t.Fatalf("error %v, want ErrNoServer", err)
	}
	for _, cure := range []string{"apt-get", "brew", "SLUICE_DATABASE_URL"} {
		if !strings.Contains(err.Error(), cure) {
			t.Errorf("%q does not name %s", err, cure)
		}
	}
}

func TestOpenNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]Config{"Dir": {}, "Major": {Dir: "x", Major: 9}} {
		if _, err := Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %s", err, field)
		}
	}
}
