// Package sdk is what a provisioner in Go needs of Slipway. The contract is generated from proto/ by `go generate`.
package sdk

//go:generate go run ./generate ../../proto
