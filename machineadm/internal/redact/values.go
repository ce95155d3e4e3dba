package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"math"
	"net/url"
	"regexp"
	"strings"
)

const (
	deepest  = 3
	mostText = 8 << 20
	// A value that is shorter would remove words that are no secret.
	shortestValue = 6
	longestValue  = 16 << 10
)

var (
	pemBlock    = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)-----END`)
	keyValue    = regexp.MustCompile(`(?i)["']?` + keys + `\\*["']?[ \t]*[:=][ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s"',;}\]]+))`)
	authValue   = regexp.MustCompile(`(?i)"?\b(?:auth|identitytoken|passwd|pass|psk)"?[ \t]*[:=][ \t]*(?:"([^"\n]*)"|([^\s"',;}\]]+))`)
	netrc       = regexp.MustCompile(`(?m)\b(?:login|user)\s+\S+\s+password\s+(\S+)|^[ \t]*password[ \t]+(\S+)[ \t]*$`)
	userInfo    = regexp.MustCompile(`://([^/\s"'@]*)@`)
	query       = regexp.MustCompile(`https?://[^\s"'<>?]+\?([^\s"'<>]+)`)
	nameAndKey  = regexp.MustCompile(`(?m)^[ \t-]*["']?[a-z_][a-z0-9_-]{0,31}:([^\s:"']{6,})`)
	word        = regexp.MustCompile(`[A-Za-z0-9+/_=.-]{16,}`)
	base64Word  = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}={0,2}`)
	base64Rows  = regexp.MustCompile(`(?:[ \t]*[A-Za-z0-9+/]{60,76}\r?\n){1,}[ \t]*[A-Za-z0-9+/]{1,76}={0,2}`)
	percentURL  = regexp.MustCompile(`data:[\w/+.;=-]{0,64},([^\s"']+)`)
	token       = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)
	crypted     = regexp.MustCompile(`\$(?:1|2[abxy]?|5|6|7|y|gy)\$[^\s:"']+`)
	hexadecimal = regexp.MustCompile(`^[0-9A-Fa-f]+$`)
	digest      = regexp.MustCompile(`sha(?:256|512):[0-9a-f]{64,}`)
)

// Whole gives the values in a file that is nothing but a secret: itself, its lines and its words.
func Whole(text []byte) [][]byte {
	values := Values(text)
	if trimmed := bytes.TrimSpace(text); len(trimmed) <= longestValue {
		values = add(values, trimmed)
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) >= shortestValue && !bytes.HasPrefix(line, []byte("-----")) {
			values = add(values, line)
		}
	}
	return values
}

// Values gives the secrets that a configuration, a script or user data holds: private keys, what has the name of a
// secret, tokens, credentials of URLs, and words of a random look, also in base64 and compressed.
func Values(text []byte) [][]byte { return valuesAt(text, 0) }

func valuesAt(text []byte, depth int) [][]byte {
	var values [][]byte
	if len(text) > mostText {
		text = text[:mostText]
	}
	if unpacked := unpack(text); unpacked != nil {
		return valuesAt(unpacked, depth)
	}
	// In JSON and in quoted YAML the ends of lines are written out.
	if bytes.Contains(text, []byte(`\n`)) {
		text = append(bytes.Clone(text), bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))...)
	}
	text = digest.ReplaceAll(text, nil)
	for _, match := range pemBlock.FindAllSubmatch(text, -1) {
		for _, line := range bytes.Fields(match[1]) {
			values = add(values, line)
		}
	}
	for _, expression := range []*regexp.Regexp{keyValue, authValue, netrc, userInfo, query, nameAndKey} {
		for _, match := range expression.FindAllSubmatch(text, -1) {
			for _, part := range match[1:] {
				values = addValue(values, part)
			}
		}
	}
	for _, expression := range []*regexp.Regexp{token, crypted} {
		values = add(values, expression.FindAll(text, -1)...)
	}
	for _, one := range word.FindAll(text, -1) {
		if random(one) {
			values = add(values, one)
		}
	}
	if depth == deepest {
		return values
	}
	for _, one := range append(base64Word.FindAll(text, -1), base64Rows.FindAll(text, -1)...) {
		if decoded := decode(one); decoded != nil {
			values = add(values, valuesAt(decoded, depth+1)...)
		}
	}
	for _, match := range percentURL.FindAllSubmatch(text, -1) {
		if decoded, err := url.PathUnescape(string(match[1])); err == nil && decoded != string(match[1]) {
			values = add(values, valuesAt([]byte(decoded), depth+1)...)
		}
	}
	return values
}

func add(values [][]byte, more ...[]byte) [][]byte {
	for _, value := range more {
		if len(value) >= shortestValue && len(value) <= longestValue {
			values = append(values, value)
		}
	}
	return values
}

// Values of settings that have the name of a secret and are none.
var common = map[string]bool{
	"default": true, "system": true, "webhook": true, "disabled": true, "enabled": true, "required": true,
	"kubelet": true, "kubeadm": true, "kubernetes": true, "containerd": true, "optional": true, "Secret": true,
}

// addValue adds what has the name of a secret, unless it is a path, or a word that says nothing.
func addValue(values [][]byte, value []byte) [][]byte {
	text := string(value)
	if common[text] || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "${") {
		return values
	}
	// "user:password", as in URLs, and escapes of URLs.
	if _, password, has := strings.Cut(text, ":"); has {
		values = add(values, []byte(password))
	}
	if plain, err := url.PathUnescape(text); err == nil && plain != text {
		values = add(values, []byte(plain))
	}
	if strings.Contains(text, `\`) {
		values = add(values, []byte(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`).Replace(text)))
	}
	return add(values, value)
}

// random says whether a word looks random: keys do, names, paths and versions do not.
func random(word []byte) bool {
	if bytes.HasPrefix(word, []byte("/")) || bytes.Count(word, []byte(".")) > 1 || bytes.Count(word, []byte("-")) > 3 {
		return false
	}
	counts, upper, lower, digits := map[byte]int{}, 0, 0, 0
	for _, sign := range word {
		counts[sign]++
		switch {
		case sign >= 'A' && sign <= 'Z':
			upper++
		case sign >= 'a' && sign <= 'z':
			lower++
		case sign >= '0' && sign <= '9':
			digits++
		}
	}
	if digits == 0 || upper+lower == 0 {
		return false
	}
	entropy := 0.0
	for _, count := range counts {
		share := float64(count) / float64(len(word))
		entropy -= share * math.Log2(share)
	}
	if upper > 2 && lower > 2 {
		return len(word) >= 20 && digits > 1 && entropy > 3.8
	}
	return len(word) >= 32 && hexadecimal.Match(word) && entropy > 3
}

// decode gives what a word holds in base64, where that is text, compressed text or a certificate's kind of bytes.
func decode(word []byte) []byte {
	letters := standard.Replace(strings.TrimRight(string(bytes.Join(bytes.Fields(word), nil)), "="))
	decoded, err := base64.RawStdEncoding.DecodeString(letters)
	if err != nil {
		return nil
	}
	if unpacked := unpack(decoded); unpacked != nil {
		return unpacked
	}
	for _, sign := range decoded {
		if sign < ' ' && sign != '\n' && sign != '\r' && sign != '\t' && sign != 0x1b {
			return nil
		}
	}
	return decoded
}

func unpack(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		return nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	// What was cut off is read as far as it goes.
	unpacked, _ := io.ReadAll(io.LimitReader(reader, mostText))
	return unpacked
}
