package redact

import (
	"bytes"
	"regexp"
)

// Letters and digits that are looked for as a piece of a longer secret; fewer would meet common words. A secret that has
// fewer is looked for as a whole, down to the shortest.
const (
	window   = 12
	shortest = 6
	gram     = 6
	// Of so many pieces of gram signs one is in every piece of window signs.
	stride     = window - gram + 1
	mostPlaces = 8
)

// pieces are the forms of secrets, reduced to letters and digits in lower case: one that is split over lines, wrapped, or
// written with other signs between is found as one that stands in one word.
type pieces struct {
	long   []byte
	places map[uint64][]int32
	short  [][]byte
}

func newPieces(forms [][]byte) *pieces {
	p := &pieces{places: map[uint64][]int32{}}
	known := map[string]bool{}
	for _, form := range forms {
		letters := lettersOf(form)
		if len(letters) < shortest || known[string(letters)] {
			continue
		}
		known[string(letters)] = true
		if len(letters) < window {
			p.short = append(p.short, letters)
			continue
		}
		p.long = append(append(p.long, letters...), '\n')
	}
	for place := 0; place+gram <= len(p.long); place += stride {
		key := gramAt(p.long, place)
		if len(p.places[key]) < mostPlaces {
			p.places[key] = append(p.places[key], int32(place))
		}
	}
	return p
}

func gramAt(text []byte, place int) uint64 {
	var key uint64
	for _, letter := range text[place : place+gram] {
		key = key<<8 | uint64(letter)
	}
	return key
}

func letter(sign byte) byte {
	switch {
	case sign >= 'a' && sign <= 'z', sign >= '0' && sign <= '9':
		return sign
	case sign >= 'A' && sign <= 'Z':
		return sign + 'a' - 'A'
	}
	return 0
}

func lettersOf(text []byte) []byte {
	letters := make([]byte, 0, len(text))
	for _, sign := range text {
		if one := letter(sign); one != 0 {
			letters = append(letters, one)
		}
	}
	return letters
}

// view is a text as the search sees it: letters, and where each begins and ends in the text.
type view struct {
	letters    []byte
	begin, end []int32
}

func (v *view) add(sign byte, begin, end int) {
	if one := letter(sign); one != 0 {
		v.letters = append(v.letters, one)
		v.begin, v.end = append(v.begin, int32(begin)), append(v.end, int32(end))
	}
}

// What stands between the parts of a secret that is split over lines: colours, and what a log puts before each line.
var (
	colour = regexp.MustCompile(`^\x1b\[[0-?]*[ -/]*[@-~]`)
	prefix = regexp.MustCompile(`^(?:\[ *[0-9.]+\] ?|` +
		`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.,+Z-]+ (?:(?:stdout|stderr) [FP] |\S{1,253} [^ \[:]{1,64}(?:\[[0-9]+\])?: )|` +
		`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:,.]+ - [^:\n]{1,64}: |` +
		`[A-Z][a-z]{2} +[0-9]{1,2} [0-9:]{8} \S{1,253} [^ \[:]{1,64}(?:\[[0-9]+\])?: )` +
		`(?:[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ [\w.]+:[0-9]+\] )?`)
)

// viewOf gives the letters of a text; with decoding what is escaped by a percent sign, or by a backslash and u00 or x, counts as what it means.
func viewOf(text []byte, decoding bool) *view {
	v := &view{
		letters: make([]byte, 0, len(text)), begin: make([]int32, 0, len(text)), end: make([]int32, 0, len(text)),
	}
	for at := 0; at < len(text); {
		if at == 0 || text[at-1] == '\n' {
			if skip := len(prefix.Find(text[at:min(at+512, len(text))])); skip > 0 {
				at += skip
				continue
			}
		}
		if text[at] == 0x1b {
			if skip := len(colour.Find(text[at:min(at+64, len(text))])); skip > 0 {
				at += skip
				continue
			}
		}
		if decoding && (text[at] == '%' || text[at] == '\\') {
			if sign, size := escaped(text[at:]); size > 0 {
				v.add(sign, at, at+size)
				at += size
				continue
			}
		}
		v.add(text[at], at, at+1)
		at++
	}
	return v
}

func escaped(text []byte) (sign byte, size int) {
	start := 1
	switch {
	case bytes.HasPrefix(text, []byte(`\u00`)):
		start = 4
	case bytes.HasPrefix(text, []byte(`\x`)):
		start = 2
	case text[0] != '%':
		return 0, 0
	}
	if len(text) < start+2 {
		return 0, 0
	}
	high, low := digit(text[start]), digit(text[start+1])
	if high < 0 || low < 0 {
		return 0, 0
	}
	return byte(high<<4 | low), start + 2
}

func digit(sign byte) int {
	switch {
	case sign >= '0' && sign <= '9':
		return int(sign - '0')
	case sign >= 'a' && sign <= 'f':
		return int(sign-'a') + 10
	case sign >= 'A' && sign <= 'F':
		return int(sign-'A') + 10
	}
	return -1
}

// cover marks the bytes of a text over which a piece of a secret goes.
func (p *pieces) cover(text []byte, covered []bool) {
	views := []*view{viewOf(text, false)}
	if bytes.IndexByte(text, '%') >= 0 || bytes.Contains(text, []byte(`\u00`)) || bytes.Contains(text, []byte(`\x`)) {
		views = append(views, viewOf(text, true))
	}
	for _, v := range views {
		mark := func(first, last int) {
			for at := v.begin[first]; at < v.end[last-1]; at++ {
				covered[at] = true
			}
		}
		p.findLong(v.letters, mark)
		p.findShort(v.letters, mark)
	}
}

func (p *pieces) findLong(letters []byte, mark func(first, last int)) {
	done := 0
	for start := 0; start+gram <= len(letters); start++ {
		if start+gram <= done {
			continue
		}
		places := p.places[gramAt(letters, start)]
		first, last := 0, 0
		for _, place := range places {
			if one, two := p.extended(letters, start, int(place)); two-one > last-first {
				first, last = one, two
			}
		}
		// What stands so often in the secrets that not every place is known counts without a look.
		if last-first >= window || len(places) == mostPlaces {
			mark(first, last)
			done = last
		}
	}
}

// extended gives how far a text and the secrets go on alike around a place.
func (p *pieces) extended(letters []byte, start, place int) (first, last int) {
	first, last = start, start+gram
	for before := place; first > 0 && before > 0 && letters[first-1] == p.long[before-1]; before-- {
		first--
	}
	for behind := place + gram; last < len(letters) && behind < len(p.long) && letters[last] == p.long[behind]; behind++ {
		last++
	}
	return first, last
}

func (p *pieces) findShort(letters []byte, mark func(first, last int)) {
	for _, whole := range p.short {
		for start := 0; ; {
			at := bytes.Index(letters[start:], whole)
			if at < 0 {
				break
			}
			mark(start+at, start+at+len(whole))
			start += at + len(whole)
		}
	}
}
