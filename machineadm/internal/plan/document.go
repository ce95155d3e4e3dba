package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// ParseDocument reads the manifest of Windows, a JSON document.
func ParseDocument(text []byte) (*Plan, error) {
	var document struct {
		ID    string `json:"id"`
		Steps []struct {
			Sentinel  bool   `json:"sentinel"`
			ID        string `json:"id"`
			Phase     string `json:"phase"`
			Program   string `json:"program"`
			Arguments string `json:"arguments"`
			Timeout   int    `json:"timeout"`
			Retries   int    `json:"retries"`
			Flags     string `json:"flags"`
		} `json:"steps"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		// The decoder's own words may quote what it has read.
		return nil, errors.New("the step data is not the JSON document that this version reads")
	}
	result := &Plan{Bundle: document.ID}
	for _, entry := range document.Steps {
		if entry.Sentinel {
			result.Items = append(result.Items, Item{Sentinel: true})
			continue
		}
		flags, err := parseFlags(entry.Flags)
		if err != nil {
			return nil, err
		}
		if entry.Program == "" {
			return nil, errors.New("a step names no program")
		}
		if entry.Timeout < 0 || entry.Timeout > Most {
			return nil, errors.New("a step's timeout is out of range")
		}
		result.Items = append(result.Items, Item{Step: Step{
			ID: entry.ID, Phase: entry.Phase, Flags: flags, Retries: entry.Retries,
			Timeout: time.Duration(entry.Timeout) * time.Second,
			Program: entry.Program, Arguments: entry.Arguments,
		}})
	}
	return result, result.check()
}
