// Package migrations holds the ledger's schema as numbered steps. A step that has been released is never edited.
package migrations

import "embed"

// FS holds the steps in goose's format, for PostgreSQL 15 and newer.
//
//go:embed *.sql
var FS embed.FS
