package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseText reads the manifest of Linux: a line with the bundle's id, then a line "ID PHASE FLAGS RETRIES TIMEOUT" for
// each step and a line "-" where the sentinel is due; trailing words may be missing. A last line without its end was
// cut off: it does not count, as in the shell.
func ParseText(text []byte) (*Plan, error) {
	lines := strings.Split(string(text), "\n")
	lines = lines[:len(lines)-1]
	if len(lines) == 0 {
		return nil, errors.New("the step data is empty")
	}
	result := &Plan{Bundle: strings.Trim(lines[0], " \t")}
	for at, line := range lines[1:] {
		item, err := parseLine(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", at+1, err)
		}
		result.Items = append(result.Items, item)
	}
	return result, result.check()
}

func parseLine(words []string) (Item, error) {
	if len(words) == 1 && words[0] == "-" {
		return Item{Sentinel: true}, nil
	}
	if len(words) < 2 || len(words) > 5 {
		return Item{}, errors.New("a line must have two to five words")
	}
	step := Step{ID: words[0], Phase: words[1]}
	if len(words) > 2 && words[2] != "-" {
		flags, err := parseFlags(words[2])
		if err != nil {
			return Item{}, err
		}
		step.Flags = flags
	}
	numbers := [2]int{}
	for at, word := range words[min(3, len(words)):] {
		number, err := strconv.Atoi(word)
		if err != nil || number < 0 || number > Most {
			return Item{}, fmt.Errorf("retries and timeout must be whole numbers up to %d", Most)
		}
		numbers[at] = number
	}
	step.Retries, step.Timeout = numbers[0], time.Duration(numbers[1])*time.Second
	return Item{Step: step}, nil
}
