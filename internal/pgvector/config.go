package pgvector

import (
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// Config says which database to use. Only URL is required.
type Config struct {
	// URL is a connection string as pgxpool reads it, pool_max_conns and its like included.
	// Whom it names may create a schema in the database, and the extension where it is not
	// there yet.
	URL string
	// Wait is the longest that a search takes. Defaults to 200ms.
	Wait time.Duration
	// Batch is how many vectors are written in one transaction. Defaults to 200.
	Batch int
	// Cooldown is how long nothing is searched after searches have failed, and up to a fifth
	// more; it doubles with each probe that fails, up to 5 minutes. Defaults to 5s.
	Cooldown time.Duration
	// Log gets a line when searches begin to fail, and when they work again.
	Log zerolog.Logger
}

// Validate names the field that cannot be used, and its value. The URL is never shown, it
// holds a password.
func (c Config) Validate() error {
	if c.URL == "" {
		return errors.New("pgvector: URL is empty")
	}
	if c.Wait < 0 || c.Cooldown < 0 {
		return fmt.Errorf("pgvector: Wait is %s and Cooldown is %s: must not be negative", c.Wait, c.Cooldown)
	}
	if c.Batch < 0 || c.Batch > maxBatch {
		return fmt.Errorf("pgvector: Batch is %d: give 1 to %d, or 0 for the default", c.Batch, maxBatch)
	}
	return nil
}

// maxBatch bounds the statements of a transaction, and with them what one holds in memory.
const maxBatch = 1000

func (c Config) complete() Config {
	if c.Wait == 0 {
		c.Wait = 200 * time.Millisecond
	}
	if c.Batch == 0 {
		c.Batch = 200
	}
	if c.Cooldown == 0 {
		c.Cooldown = 5 * time.Second
	}
	return c
}
