package redact

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
)

// A pattern is what a secret looks like. What its one group holds is kept. A line that lacks what
// `needs` asks for cannot match: Go's regular expressions are slow, and most lines hold no secret.
type pattern struct {
	expression *regexp.Regexp
	needs      func(lower []byte) bool
}

// These are the patterns of `slipway diagnose`, which removes them again on arrival. Order matters: what is whole first.
var patterns = []pattern{
	{regexp.MustCompile(`()-----BEGIN .*`), with("-----begin")},
	{regexp.MustCompile(`()\b[A-Za-z0-9+/=]*LS0tLS1CRUdJ[A-Za-z0-9+/=]*`), with("ls0tls1crudj")},
	{regexp.MustCompile(`(?i)(\b(?:bearer|basic|negotiate) +)[A-Za-z0-9._~+/=-]{8,}`), with("bearer", "basic", "negotiate")},
	{regexp.MustCompile(`(://)[^/\s@]*@`), with("://")},
	{regexp.MustCompile(`(\?)[^\s"'>)]*=[^\s"'>)]*`), with("?")},
	{regexp.MustCompile(`(?i)(` + keys + `(?:\\*["'])?\s*[:=]\s*)(?:\\*"[^"\\]*\\*"?|\\*'[^'\\]*\\*'?|[^\s"',;]+)`), keyed},
	{regexp.MustCompile(`(?i)(--[\w-]*(?:token|password|certificate-key|secret)[= ]+)\S+`), with("--")},
	{regexp.MustCompile(`(?i)(net use .*|/p(?:assword)?:)\S+`), with("net use", "/p")},
	{regexp.MustCompile(`()\b[a-z0-9]{6}(?:\.|(?i:%2e))[a-z0-9]{16}\b`), with(".", "%2e")},
	{regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*`), with("eyj")},
	{regexp.MustCompile(`()\$(?:1|2[abxy]?|5|6|7|y|gy)\$[^\s:"']+`), with("$")},
	{regexp.MustCompile(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), with("akia", "asia")},
	{regexp.MustCompile(`()\b(?:ghp|gho|ghs|glpat|xox[bp])[_-][A-Za-z0-9_-]{16,}`), with("gh", "glpat", "xox")},
	{regexp.MustCompile(`(sha256:[0-9a-f]{64}|(?:/[a-z0-9._~-]{1,64})+)|(?i:\b[0-9a-f]{44,}\b)|` +
		`[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9+/_-]{60,}={0,2}`), long},
}

const keys = `[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|` +
	`certificate[_-]?key|client-key-data|client-certificate-data|certificate-authority-data|authorization|` +
	`cookie|signature|blob|kubeconfig)[\w-]*`

var (
	keyWords = []string{
		"passw", "passphrase", "secret", "token", "credential", "key", "client-", "certificate-auth", "authorization",
		"cookie", "signature", "blob", "kubeconfig",
	}
	encoded  = regexp.MustCompile(`[A-Za-z0-9+/_-]{22,}={0,2}`)
	readable = regexp.MustCompile(`[\x20-\x7e\t\r\n]{14}`)
	standard = strings.NewReplacer("-", "+", "_", "/")
)

func with(parts ...string) func([]byte) bool {
	return func(lower []byte) bool {
		for _, part := range parts {
			if bytes.Contains(lower, []byte(part)) {
				return true
			}
		}
		return false
	}
}

func keyed(lower []byte) bool { return bytes.ContainsAny(lower, ":=") && with(keyWords...)(lower) }

func long(lower []byte) bool { return longestWord(lower) >= 43 }

func longestWord(line []byte) int {
	longest, run := 0, 0
	for _, sign := range line {
		if letter(sign) != 0 || sign == '+' || sign == '/' || sign == '_' || sign == '-' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// byPattern gives a line without what looks like a secret, and how often something was removed.
func byPattern(line []byte) ([]byte, int) {
	count, lower := 0, bytes.ToLower(line)
	replace := func(expression *regexp.Regexp, with func(match [][]byte) []byte) {
		changed := false
		var out []byte
		end := 0
		for _, at := range expression.FindAllSubmatchIndex(line, -1) {
			match := [][]byte{line[at[0]:at[1]], nil}
			if len(at) > 2 && at[2] >= 0 {
				match[1] = line[at[2]:at[3]]
			}
			if new := with(match); !bytes.Equal(new, match[0]) {
				changed = true
				count++
				out = append(append(out, line[end:at[0]]...), new...)
				end = at[1]
			}
		}
		if changed {
			line = append(out, line[end:]...)
			lower = bytes.ToLower(line)
		}
	}
	for _, one := range patterns {
		if one.needs(lower) {
			replace(one.expression, func(match [][]byte) []byte {
				if len(match[1]) == len(match[0]) {
					return match[0]
				}
				return append(bytes.Clone(match[1]), Removed...)
			})
		}
	}
	if longestWord(line) >= 22 {
		replace(encoded, func(match [][]byte) []byte {
			if holdsText(match[0]) {
				return []byte(Removed)
			}
			return match[0]
		})
	}
	return line, count
}

// holdsText says whether a word holds readable text in base64: a token, a password, a command to join.
func holdsText(word []byte) bool {
	letters := standard.Replace(strings.TrimRight(string(word), "="))
	for start := range 4 {
		part := letters[min(start, len(letters)):]
		part = part[:len(part)-len(part)%4]
		if text, err := base64.StdEncoding.DecodeString(part); err == nil && readable.Match(text) {
			return true
		}
	}
	return false
}
