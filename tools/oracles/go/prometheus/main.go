// Command promql reads a JSON list of PromQL expressions, and prints for each of them the metrics that it selects and the
// labels that it reads, or why Prometheus refuses it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

type answer struct {
	Error   string              `json:"error,omitempty"`
	Metrics map[string][]string `json:"metrics"`
	// Labels by which samples are grouped, joined or rewritten, whatever their metric is.
	Labels []string `json:"labels"`
}

func main() {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	answers := map[string]answer{}
	for _, expression := range expressions {
		answers[expression] = read(expression)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func read(expression string) answer {
	tree, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return answer{Error: err.Error()}
	}
	result := answer{Metrics: map[string][]string{}}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		switch typed := node.(type) {
		case *parser.VectorSelector:
			for _, matcher := range typed.LabelMatchers {
				if matcher.Name != labels.MetricName {
					result.Metrics[typed.Name] = append(result.Metrics[typed.Name], matcher.Name)
				}
			}
			if result.Metrics[typed.Name] == nil {
				result.Metrics[typed.Name] = []string{}
			}
		case *parser.AggregateExpr:
			result.Labels = append(result.Labels, typed.Grouping...)
		case *parser.BinaryExpr:
			if typed.VectorMatching != nil {
				result.Labels = append(result.Labels, typed.VectorMatching.MatchingLabels...)
				result.Labels = append(result.Labels, typed.VectorMatching.Include...)
			}
		}
		return nil
	})
	return result
}
