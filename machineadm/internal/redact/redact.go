// Package redact removes secrets from logs on the machine that they are of: the values that are on its disk, in whatever
// form, and what looks like a secret. Too much removed is no harm; too little is.
package redact

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
)

// Removed stands where something was.
const Removed = "<removed>"

// Redactor knows the secrets of one machine.
type Redactor struct{ pieces *pieces }

// New makes a redactor of the values of secrets. Each is looked for as it is, in base64, in base32, in hexadecimal, with
// escapes, and split over lines.
func New(values [][]byte) *Redactor {
	var forms [][]byte
	for _, value := range values {
		forms = append(forms, value, []byte(hex.EncodeToString(value)))
		forms = append(append(forms, inBase64(value)...), inBase32(value)...)
	}
	return &Redactor{newPieces(forms)}
}

// inBase64 gives the signs that a value has in base64 wherever it begins in what was encoded.
func inBase64(value []byte) [][]byte {
	var forms [][]byte
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), value...))
		// The first and the last sign may hold bits of what is beside the value.
		first := []int{0, 2, 3}[before]
		if len(text) > first+2 {
			forms = append(forms, []byte(text[first:len(text)-1]))
		}
	}
	return forms
}

// inBase32 gives the signs that a value has in base32 wherever it begins in what was encoded.
func inBase32(value []byte) [][]byte {
	var forms [][]byte
	for before := range 5 {
		text := base32.StdEncoding.EncodeToString(append(make([]byte, before), value...))
		forms = append(forms, []byte(text[(before*8+4)/5:(before+len(value))*8/5]))
	}
	return forms
}

// Redact gives a text without secrets, and how many places were removed.
func (r *Redactor) Redact(text []byte) ([]byte, int) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	covered := make([]bool, len(text))
	r.pieces.cover(text, covered)
	text, count := without(text, covered)
	var out bytes.Buffer
	inKey := false
	for line := range bytes.Lines(text) {
		begins, ends := bytes.Contains(line, []byte("-----BEGIN ")), bytes.Contains(line, []byte("-----END "))
		if inKey && !begins {
			// What is within a PEM block is longer than most words, and of one word a line.
			inKey = !ends && longestWord(line) >= 16
			if inKey || ends {
				count++
				out.WriteString(Removed + "\n")
				continue
			}
		}
		inKey = begins && !ends
		shown, removed := byPattern(line)
		count += removed
		out.Write(shown)
		if inKey && !bytes.HasSuffix(shown, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), count
}

// without gives a text with a mark in place of each part that is covered; the ends of lines stay.
func without(text []byte, covered []bool) ([]byte, int) {
	out, count := make([]byte, 0, len(text)), 0
	for at := 0; at < len(text); {
		if !covered[at] {
			out = append(out, text[at])
			at++
			continue
		}
		count++
		out = append(out, Removed...)
		for ; at < len(text) && covered[at]; at++ {
			if text[at] == '\n' {
				out = append(out, '\n')
			}
		}
	}
	return out, count
}
