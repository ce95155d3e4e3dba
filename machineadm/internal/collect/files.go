package collect

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"slipway.dev/machineadm/internal/redact"
)

const (
	// Bytes of one source, before it is compressed; the end counts.
	mostOfSource = 2 << 20
	// Files of one pattern; the ones that were written last count.
	mostFiles = 24
	// Bytes that are read of one file that holds secrets, and files of that kind.
	mostOfSecret  = 1 << 20
	mostSecrets   = 4000
	mostOfSecrets = 48 << 20
)

// files gives the logs that match a pattern, below a root.
func files(root, pattern string) []Text {
	paths, _ := filepath.Glob(filepath.Join(root, pattern))
	var texts []Text
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, cut := end(path, mostOfSource)
		if len(content) == 0 {
			continue
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			continue
		}
		name = strings.ReplaceAll(filepath.ToSlash(name), ":", "")
		texts = append(texts, Text{Name: name, Content: content, Changed: info.ModTime(), Cut: cut})
	}
	sort.SliceStable(texts, func(one, two int) bool { return texts[one].Changed.After(texts[two].Changed) })
	return texts[:min(len(texts), mostFiles)]
}

// end gives the last bytes of a file, from the beginning of a line on.
func end(path string, most int) (content []byte, cut bool) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		// Files of /proc have no end to go to.
		size = 0
	}
	if size > int64(most) {
		_, err = file.Seek(size-int64(most), io.SeekStart)
	} else {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, false
	}
	content, _ = io.ReadAll(io.LimitReader(file, int64(most)+1))
	if size > int64(most) {
		return tail(content, most-1), true
	}
	return content, false
}

// Secrets gives the values of the secrets that are on the disk of this machine.
func Secrets(root string) [][]byte {
	values, bytes, count := [][]byte{}, 0, 0
	read := func(path string, whole bool) {
		if count >= mostSecrets || bytes >= mostOfSecrets {
			return
		}
		content, err := start(path, mostOfSecret)
		if err != nil || len(content) == 0 {
			return
		}
		count++
		bytes += len(content)
		if whole {
			values = append(values, redact.Whole(content)...)
		} else {
			values = append(values, redact.Values(content)...)
		}
	}
	for _, place := range secretPlaces {
		paths, _ := filepath.Glob(filepath.Join(root, place.pattern))
		for _, path := range paths {
			_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && (entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0) {
					read(path, place.whole)
				}
				return nil
			})
		}
	}
	return values
}

func start(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, os.ErrNotExist
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// place is where a machine has secrets: a pattern of paths, folders with all that is in them. The whole of a file is one
// where nothing else is in it.
type place struct {
	pattern string
	whole   bool
}
