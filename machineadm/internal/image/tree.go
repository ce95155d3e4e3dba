package image

import (
	"os"
	"path/filepath"
	"strings"
)

const mostLinks = 40

// tree is an image's files; links lead to where they lead on a machine that has booted it.
type tree struct {
	root string
	live bool
}

func newTree(root string) tree {
	clean := filepath.Clean(root)
	return tree{clean, clean == string(filepath.Separator) || filepath.VolumeName(clean) != ""}
}

// find gives where a path of the image is, links followed within the image; "" where nothing is there.
func (t tree) find(path string) string {
	if t.live {
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		return path
	}
	left, at, links := strings.Split(path, "/"), t.root, 0
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if at != t.root {
				at = filepath.Dir(at)
			}
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return ""
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > mostLinks {
			return ""
		}
		if filepath.IsAbs(target) {
			at = t.root
		}
		left = append(strings.Split(target, "/"), left...)
	}
	return at
}

func (t tree) has(path string) bool { return t.find(path) != "" }

// first gives the first of the paths that is there, as a path of the image.
func (t tree) first(paths ...string) string {
	for _, path := range paths {
		if t.has(path) {
			return path
		}
	}
	return ""
}

// names gives the names in a folder of the image.
func (t tree) names(folder string) []string {
	found := t.find(folder)
	if found == "" {
		return nil
	}
	entries, _ := os.ReadDir(found)
	result := make([]string, 0, len(entries))
	for _, entry := range entries {
		result = append(result, entry.Name())
	}
	return result
}
