// Package db stands in for rqlite's, which needs a C compiler. k0s calls it only to back up a cluster that is kept in
// SQLite.
package db

import "errors"

var errNone = errors.New("this build of k0s has no SQLite")

// DB is a database that cannot be opened.
type DB struct{}

// Open fails.
func Open(string) (*DB, error) { return nil, errNone }

// Backup fails.
func (*DB) Backup(string) error { return errNone }

// Close does nothing.
func (*DB) Close() error { return nil }
