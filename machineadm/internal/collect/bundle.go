// Package collect makes the log bundle of a machine: an allow-list of logs and facts, without secrets, in one archive of
// a bounded size.
package collect

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"sort"
	"strings"
	"time"

	"slipway.dev/machineadm/internal/redact"
)

// Largest is the size of a bundle, in bytes.
const Largest = 5 << 20

const (
	// Room that is kept for the last member, which says what is in the bundle.
	manifestRoom = 64 << 10
	leastRoom    = 1 << 10
	// What is unpacked from a bundle, and how many members it has: readers are bounded, too.
	mostUnpacked = 48 << 20
	mostMembers  = 250
	folder       = "slipway-logs/"
	manifestName = folder + "manifest.json"
)

// Text is what a source has given.
type Text struct {
	Name    string
	Content []byte
	// Changed is when its last line was written.
	Changed time.Time
	// Cut says that there was more, which is older.
	Cut bool
}

// Member is a source as the manifest names it.
type Member struct {
	Name    string    `json:"name"`
	Bytes   int       `json:"bytes"`
	Changed time.Time `json:"changed"`
	Cut     bool      `json:"cut,omitempty"`
	Removed int       `json:"removed,omitempty"`
}

// Manifest says what is in a bundle.
type Manifest struct {
	Bundle   string    `json:"bundleId,omitempty"`
	Hostname string    `json:"hostname"`
	Time     time.Time `json:"time"`
	Version  string    `json:"machineadm"`
	Members  []Member  `json:"members"`
	// LeftOut names what found no room.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Write writes the bundle: what was written last comes first, and what is older is left out when there is no more room.
// Each member is compressed by itself, so that its size is known before it is written; programs that read gzip go on
// from one to the next.
func Write(out io.Writer, texts []Text, redactor *redact.Redactor, manifest Manifest, largest int) error {
	sort.SliceStable(texts, func(one, two int) bool { return texts[one].Changed.After(texts[two].Changed) })
	left, unpacked := largest-manifestRoom, 0
	for _, text := range texts {
		if left < leastRoom || unpacked+len(text.Content) > mostUnpacked || len(manifest.Members) == mostMembers {
			manifest.LeftOut = append(manifest.LeftOut, folder+text.Name)
			continue
		}
		content, removed := redactor.Redact(readable(text.Content))
		member := Member{folder + text.Name, len(content), text.Changed.UTC(), text.Cut, removed}
		packed, err := pack(member, content, false)
		// Where it does not fit, its newer half may.
		for err == nil && len(packed) > left && len(content) > 16<<10 {
			content = tail(content, len(content)/2)
			member.Bytes, member.Cut = len(content), true
			packed, err = pack(member, content, false)
		}
		if err != nil {
			return err
		}
		if len(packed) > left {
			manifest.LeftOut = append(manifest.LeftOut, member.Name)
			continue
		}
		if _, err := out.Write(packed); err != nil {
			return err
		}
		left -= len(packed)
		unpacked += len(content)
		manifest.Members = append(manifest.Members, member)
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	packed, err := pack(Member{Name: manifestName, Bytes: len(text), Changed: manifest.Time}, text, true)
	if err != nil {
		return err
	}
	_, err = out.Write(packed)
	return err
}

// pack gives a member of the archive as one compressed stream; the last one has the end of the archive.
func pack(member Member, content []byte, last bool) ([]byte, error) {
	var packed bytes.Buffer
	compressor, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressor)
	err = archive.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: member.Name, Mode: 0o600, Size: int64(len(content)),
		ModTime: member.Changed.Truncate(time.Second), Format: tar.FormatPAX,
	})
	if err == nil {
		_, err = archive.Write(content)
	}
	switch {
	case err != nil:
	case last:
		err = archive.Close()
	default:
		err = archive.Flush()
	}
	if err != nil {
		return nil, err
	}
	err = compressor.Close()
	return packed.Bytes(), err
}

// tail gives the end of a text, from the beginning of a line on.
func tail(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	if _, behind, has := bytes.Cut(text, []byte("\n")); has {
		return behind
	}
	return text
}

// readable gives a text without what would hide a part of a secret, or do something to a terminal.
func readable(text []byte) []byte {
	return bytes.Map(func(sign rune) rune {
		if sign == 0 || sign == '\x7f' || (sign < ' ' && !strings.ContainsRune("\n\r\t\x1b", sign)) {
			return -1
		}
		return sign
	}, text)
}
