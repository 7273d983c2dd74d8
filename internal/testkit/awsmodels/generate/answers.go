// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// generateAnswers writes down which members the answers of the called operations always have.
func generateAnswers(botocore, version, file string) error {
	called, err := awsmodels.Called(".")
	if err != nil {
		return err
	}
	a := awsmodels.Answers{Source: "botocore " + version, Required: map[string]map[string]awsmodels.Codes{}}
	for service, operations := range called {
		m, err := readModel(filepath.Join(botocore, "data", cmp.Or(folders[service], service)))
		if err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
		of := map[string]awsmodels.Codes{}
		for _, operation := range operations {
			output := m.Operations[operation].Output.Shape
			m.required(output, operation+"Output", of, map[string]bool{"": true})
		}
		if len(of) > 0 {
			a.Required[service] = of
		}
	}
	return write(file, a)
}

// required adds the required members of a shape and of those below it. The SDK names the shape of an output after its operation.
func (m model) required(shape, name string, of map[string]awsmodels.Codes, seen map[string]bool) {
	if seen[shape] {
		return
	}
	seen[shape] = true
	s := m.Shapes[shape]
	if len(s.Required) > 0 {
		var members []string
		for _, member := range s.Required {
			members = append(members, strings.ToUpper(member[:1])+member[1:])
		}
		slices.Sort(members)
		of[name] = awsmodels.Codes(strings.Join(members, " "))
	}
	below := []reference{s.Member, s.Key, s.Value}
	for _, member := range s.Members {
		below = append(below, member)
	}
	for _, r := range below {
		m.required(r.Shape, r.Shape, of, seen)
	}
}
