// Package image checks what an image must have for machineadm and the runner: the clauses for who builds images.
package image

import (
	_ "embed"
	"encoding/json"
)

//go:embed clauses.json
var text []byte

// Clause is one thing that an image must have.
type Clause struct {
	ID   string `json:"id"`
	OS   string `json:"os"`
	Text string `json:"text"`
}

// Finding is how an image stands to a clause.
type Finding struct {
	Clause  string `json:"clause"`
	Level   string `json:"level"`
	Message string `json:"message,omitempty"`
}

// Levels of a finding.
const (
	Kept    = "ok"
	Broken  = "broken"
	Skipped = "skipped"
)

// Clauses gives the clauses of an operating system.
func Clauses(system string) []Clause {
	var all, result []Clause
	if err := json.Unmarshal(text, &all); err != nil {
		panic("the clauses are no JSON: the program was built wrong")
	}
	for _, clause := range all {
		if clause.OS == system {
			result = append(result, clause)
		}
	}
	return result
}

// check looks at an image; it gives what is wrong, or "", and why it cannot tell, or "".
type check func(image tree) (wrong, skipped string)

// Check compares the image below the root with the clauses of this operating system. A root other than the running
// system's is an image that is not mounted as it will be.
func Check(root string) []Finding {
	var result []Finding
	image := newTree(root)
	for _, clause := range Clauses(system) {
		wrong, skipped := checks[clause.ID](image)
		switch {
		case wrong != "":
			result = append(result, Finding{clause.ID, Broken, wrong})
		case skipped != "":
			result = append(result, Finding{clause.ID, Skipped, skipped})
		default:
			result = append(result, Finding{Clause: clause.ID, Level: Kept})
		}
	}
	return result
}
