//go:build unix

package pgvtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// fetchFor bounds how long npm may take.
const fetchFor = 5 * time.Minute

// errCure is what to do where no server is to be had.
var errCure = errors.New("install Node.js 18 or newer with its npm (apt-get install npm), which fetches PGlite once")

//go:embed package.json package-lock.json server.mjs
var parts embed.FS

// fetch returns the directory of the server's program, and brings it there unless somebody
// has before. npm runs no scripts of the packages; the lock file's hashes say what is accepted.
func fetch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	sum := sha256.New()
	names := []string{"package.json", "package-lock.json", "server.mjs"}
	for _, name := range names {
		text, err := parts.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		sum.Write(text)
	}
	home := filepath.Join(cache, "sluice", "pglite")
	dir := filepath.Join(home, hex.EncodeToString(sum.Sum(nil)[:8]))
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	lock := flock.New(filepath.Join(home, "lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", fmt.Errorf("lock the cache: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // closing the file releases it as well
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(home, "new-")
	if err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // it has gone, if all went well
	if err := os.CopyFS(work, parts); err != nil {
		return "", fmt.Errorf("lay out the server: %w", err)
	}
	// The extensions that the socket server can do without are its peers: they are not asked for.
	cmd := exec.CommandContext(ctx, "npm", "ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
	cmd.Dir, cmd.WaitDelay = work, 5*time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, bytes.TrimSpace(said))
	}
	if err := os.Rename(work, dir); err != nil {
		return "", fmt.Errorf("keep the server: %w", err)
	}
	return dir, nil
}
