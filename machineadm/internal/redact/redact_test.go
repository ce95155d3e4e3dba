package redact

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

const secret = "k3-Vq8Zt0wXr5LmPa9"

func TestAValueIsFoundInEveryForm(t *testing.T) {
	redactor := New([][]byte{[]byte(secret)})
	for name, text := range map[string]string{
		"raw":                    secret,
		"base64":                 base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64, one behind":     base64.StdEncoding.EncodeToString([]byte("x" + secret + "y")),
		"base64, two behind":     base64.URLEncoding.EncodeToString([]byte("xy" + secret)),
		"base32":                 base32.StdEncoding.EncodeToString([]byte(secret)),
		"base32, small letters":  strings.ToLower(base32.StdEncoding.EncodeToString([]byte("x" + secret))),
		"base32, four behind":    base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("abcd" + secret)),
		"hex":                    hex.EncodeToString([]byte(secret)),
		"HEX":                    strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"hex with colons":        strings.TrimSuffix(fmt.Sprintf("% x", secret), " "),
		"every sign escaped":     "%" + strings.Join(strings.Fields(fmt.Sprintf("% x", secret)), "%"),
		"JSON":                   strings.ReplaceAll(secret, "Z", `\u005a`),
		"of a URL":               url.QueryEscape(secret),
		"over two lines":         secret[:8] + "\n" + secret[8:],
		"over two records":       secret[:8] + "\n2026-11-26T03:00:00+0000 node-1 kubelet[12]: " + secret[8:],
		"over records of klog":   secret[:9] + "\nNov 26 03:00:00 n kubelet[1]: I1126 03:00:00.1234    1 a.go:12] " + secret[9:],
		"over lines of a kernel": secret[:7] + "\n[    1.234567] " + secret[7:],
		"over lines of a pod":    secret[:7] + "\n2026-11-26T03:00:00.123456789Z stderr F " + secret[7:],
		"in colours":             secret[:7] + "\x1b[1;31m" + secret[7:],
		"a part":                 secret[:15],
	} {
		got, count := redactor.Redact([]byte("before " + text + " behind\nnext line\n"))
		letters := string(lettersOf(got))
		if count == 0 || !strings.Contains(string(got), Removed) || !strings.HasSuffix(string(got), " behind\nnext line\n") ||
			strings.Contains(letters, "q8zt0w") || !strings.HasPrefix(string(got), "before ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAShortValueIsFoundWhole(t *testing.T) {
	got, _ := New([][]byte{[]byte("hunter2")}).Redact([]byte("login hunter2, hunt, HUNTER2\n"))
	if string(got) != "login <removed>, hunt, <removed>\n" {
		t.Errorf("%q", got)
	}
}

func TestWhatLooksLikeASecretIsRemoved(t *testing.T) {
	none := New(nil)
	for _, line := range []string{
		"token abcdef.0123456789abcdef",
		"Authorization: Bearer abcdefghijklmnop",
		"https://user:pass@mirror.example.com/x",
		"GET https://bucket.example.com/x?X-Amz-Signature=aa11",
		`"password": "correct horse"`,
		"kubeadm join --token abcdef.0123456789abcdef --certificate-key aa11bb22",
		"eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln",
		"root:$6$rounds$abcdefgh:1:2",
		"key AKIAABCDEFGHIJKLMNOP used",
		"data " + base64.StdEncoding.EncodeToString([]byte("password is in here somewhere")),
		hex.EncodeToString(bytes.Repeat([]byte{0xa5, 0x17}, 16)),
		"-----BEGIN RSA PRIVATE KEY-----",
	} {
		if got, count := none.Redact([]byte(line + "\n")); count == 0 {
			t.Errorf("%q", got)
		}
	}
}

func TestAPEMBlockIsRemovedWhole(t *testing.T) {
	block := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAbcdefghijklmnopqrstuv\nwxyz0123456789abcdefg==\n-----END EC PRIVATE KEY-----\n"
	for _, prefix := range []string{"", "Nov 26 03:00:00 n x[1]: "} {
		text := prefix + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n"+prefix) + "\nafter it\n"
		got, _ := New(nil).Redact([]byte(text))
		if strings.Contains(string(got), "MHcC") || strings.Contains(string(got), "wxyz") || !strings.HasSuffix(string(got), "after it\n") {
			t.Errorf("%q", got)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	text := `I1126 03:00:00.000000    1234 kubelet.go:2000] "Failed to pull image" err="registry.k8s.io/pause:3.10: not found"
Nov 26 03:00:00 node-1 containerd[12]: level=error msg="sha256:` + strings.Repeat("ab", 32) + ` is missing"
error: open /etc/kubernetes/pki/apiserver-kubelet-client.crt: no such file or directory
[preflight] Some fatal errors occurred: [ERROR FileContent--proc-sys-net-ipv4-ip_forward]
`
	got, count := New([][]byte{[]byte(secret)}).Redact([]byte(text))
	if string(got) != text || count != 0 {
		t.Errorf("%q", got)
	}
}

func TestValuesOfFiles(t *testing.T) {
	key := "MHcCAQEEIAbcdefghijklmnopqrstuv0123456789"
	pem := "-----BEGIN EC PRIVATE KEY-----\n" + key + "\n-----END EC PRIVATE KEY-----\n"
	coded := base64.StdEncoding.EncodeToString([]byte(pem))
	for name, text := range map[string]string{
		key:                       "client-key-data: " + coded,
		"correct horse":           `{"password": "correct horse"}`,
		"hunter2":                 "chpasswd:\n  list: |\n    root:hunter2\n",
		"Zt0wXr5LmPa9Q":           "proxy: http://me:Zt0wXr5LmPa9Q@proxy:3128",
		"abcdef.0123456789abcdef": "kubeadm join --token abcdef.0123456789abcdef",
		"p@ss/word":               "URL=https://me:p%40ss%2fword@example.com",
	} {
		for _, form := range []string{text, "content: " + base64.StdEncoding.EncodeToString([]byte(text))} {
			if values := Values([]byte(form)); !bytes.Contains(bytes.Join(values, []byte("\n")), []byte(name)) {
				t.Errorf("%s: %q", name, values)
			}
		}
	}
}

func TestNamesAndPathsAreNoValues(t *testing.T) {
	text := "image: registry.k8s.io/kube-apiserver:v1.34.2\nsandbox_image = \"registry.k8s.io/pause:3.10\"\n" +
		"tokenFile: /etc/kubernetes/token\n--feature-gates=NodeLogQuery=true\nsecretName: default\n" +
		"/var/lib/slipway/steps/20-kubeadm\nsha256:" + strings.Repeat("a1", 32) + "\n"
	if values := Values([]byte(text)); len(values) != 0 {
		t.Errorf("%q", values)
	}
}

func TestMuchTextTakesLittleTime(t *testing.T) {
	line := "2026-11-26T03:00:00+0000 node-1 kubelet[12]: E1126 03:00:00.000000 12 x.go:1] \"Unhandled\" err=\"token: a=b\" x?y=z %41\n"
	text := []byte(strings.Repeat(line, 5<<20/len(line)))
	values := [][]byte{}
	for number := range 500 {
		values = append(values, fmt.Appendf(nil, "%s%d-%x", secret, number, number*7919))
	}
	start := time.Now()
	New(values).Redact(text)
	t.Log(time.Since(start))
	if time.Since(start) > time.Minute {
		t.Error(time.Since(start))
	}
}
