package ledger

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// dataError is a row that is refused before the database sees it.
type dataError struct{ what string }

func (e *dataError) Error() string { return e.what }

func dataErrorf(format string, args ...any) error { return &dataError{fmt.Sprintf(format, args...)} }

// IsData tells that a row itself is at fault, so that trying again cannot help: the caller splits the batch in halves
// until the row stands alone. Every other error is the database's or the connection's, and passes with time.
func IsData(err error) bool {
	var ours *dataError
	if errors.As(err, &ours) {
		return true
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "22", "23", // data exception, integrity constraint
		"54": // program limit: a key too long for its index, JSON nested too deep
		return true
	}
	return false
}

// lacksMonth tells that an event found no partition for its time. PostgreSQL has no code of its own for it.
func lacksMonth(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23514" && strings.HasPrefix(pg.TableName, eventTable)
}
