package collect

import (
	"bytes"
	"context"
	"os/exec"
	"time"
)

// Patience is how long all programs together may take that give sources.
const Patience = 2 * time.Minute

// A program that gives a source may take so long.
const patience = 10 * time.Second

// output gives the end of what a program prints; nothing where it is missing, fails without a word or takes too long.
func output(ctx context.Context, most int, name string, arguments ...string) (content []byte, cut bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kept := &ending{most: most}
	command := exec.CommandContext(ctx, name, arguments...)
	command.Stdout, command.WaitDelay = kept, time.Second
	_ = command.Run()
	return tail(kept.text, most), kept.cut
}

// ending keeps the end of what is written to it.
type ending struct {
	most int
	text []byte
	cut  bool
}

func (e *ending) Write(text []byte) (int, error) {
	e.text = append(e.text, text...)
	if len(e.text) > 2*e.most {
		e.text, e.cut = bytes.Clone(e.text[len(e.text)-e.most:]), true
	}
	return len(text), nil
}

// lastTime gives the time of the last line that begins with one, else now.
func lastTime(content []byte, now time.Time) time.Time {
	line := content[bytes.LastIndexByte(bytes.TrimRight(content, "\n"), '\n')+1:]
	word, _, _ := bytes.Cut(line, []byte(" "))
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339} {
		if written, err := time.Parse(layout, string(word)); err == nil {
			return written
		}
	}
	return now
}
