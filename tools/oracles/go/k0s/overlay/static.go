package static

import "embed"

//go:embed manifests misc
var files embed.FS

// Asset gives a file that a release of k0s has generated into its code.
func Asset(name string) ([]byte, error) { return files.ReadFile(name) }

// AssetDir gives the names of the files in a folder.
func AssetDir(name string) ([]string, error) {
	entries, err := files.ReadDir(name)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, err
}
