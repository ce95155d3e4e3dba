package collect

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"slipway.dev/machineadm/internal/redact"
)

func TestABundleIsBoundedUnpackedToo(t *testing.T) {
	var texts []Text
	for number := range 300 {
		content := bytes.Repeat([]byte("a line that compresses well\n"), 20<<10)
		texts = append(texts, Text{Name: fmt.Sprint("log-", number), Content: content, Changed: time.Unix(int64(number), 0)})
	}
	for number := range 300 {
		texts = append(texts, Text{Name: fmt.Sprint("small-", number), Content: []byte("x\n"), Changed: time.Unix(-int64(number), 0)})
	}
	var out bytes.Buffer
	if err := Write(&out, texts, redact.New(nil), Manifest{}, Largest); err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	archive, size, count, last := tar.NewReader(reader), 0, 0, []byte(nil)
	for {
		if _, err := archive.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if last, err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
		size, count = size+len(last), count+1
	}
	if size > 64<<20 || size < mostUnpacked-(1<<20) || count != mostMembers+1 {
		t.Error(size, count)
	}
	manifest := Manifest{}
	if err := json.Unmarshal(last, &manifest); err != nil || len(manifest.Members)+len(manifest.LeftOut) != len(texts) {
		t.Error(err, len(manifest.Members), len(manifest.LeftOut))
	}
}
