// Package contract holds the contract as Go packages. They are generated from proto/ and not kept in git, so they can
// never disagree with it: `go generate` writes them.
package contract

//go:generate go run ./generate ../../proto
