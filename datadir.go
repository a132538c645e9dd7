package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// dataFormat is the version of the data directory's layout that this program writes.
// A newer one is refused; an older one is migrated here when there is one.
const dataFormat = 1

// dataDir is a data directory that this process alone holds. Holding its lock proves
// that the process before this one is dead.
type dataDir struct {
	path string
	lock *flock.Flock
}

// openDataDir makes the directory if need be, locks it and checks its format.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	d := &dataDir{path: path, lock: flock.New(filepath.Join(path, "lock"))}
	held, err := d.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock data directory %s: %w", path, err)
	}
	if !held {
		return nil, fmt.Errorf("data directory %s is in use by another sluice: stop it, or choose another with --data", path)
	}
	if err := d.checkFormat(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// nats is where the embedded server keeps its streams.
func (d *dataDir) nats() string { return filepath.Join(d.path, "nats") }

// postgres is where the private PostgreSQL keeps its clusters.
func (d *dataDir) postgres() string { return filepath.Join(d.path, "postgres") }

func (d *dataDir) close() error {
	if err := d.lock.Unlock(); err != nil {
		return fmt.Errorf("unlock data directory: %w", err)
	}
	return nil
}

func (d *dataDir) checkFormat() error {
	file := filepath.Join(d.path, "FORMAT")
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return d.writeFormat(file)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || format < 1 {
		return fmt.Errorf("%s does not hold a format number: is %s a data directory of sluice?", file, d.path)
	}
	if format > dataFormat {
		return fmt.Errorf("%s says format %d, this sluice knows up to %d: start the newer sluice that wrote it", file, format, dataFormat)
	}
	return nil
}

// writeFormat marks a new directory, by rename so that a crash leaves no half a file.
func (d *dataDir) writeFormat(file string) error {
	if _, err := os.Stat(d.nats()); err == nil {
		return fmt.Errorf("%s holds streams but no FORMAT file: restore it (this sluice writes %d), or choose another --data", d.path, dataFormat)
	}
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(dataFormat)+"\n"), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
