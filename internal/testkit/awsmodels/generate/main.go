// SPDX-License-Identifier: Apache-2.0

// Generate writes what the service models of botocore say of the operations that the operator calls.
//
//	go run ./internal/testkit/awsmodels/generate BOTOCORE VERSION internal/testkit/awsmodels/errors.json
package main

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: generate FOLDER-OF-BOTOCORE VERSION FILE")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// folders are the names of botocore where they differ from those of the SDK.
var folders = map[string]string{"cognitoidentityprovider": "cognito-idp", "elasticloadbalancingv2": "elbv2"}

func generate(botocore, version, file string) error {
	called, err := awsmodels.Called(".")
	if err != nil {
		return err
	}
	t := awsmodels.Table{Source: "botocore " + version, Services: map[string]map[string]awsmodels.Codes{}}
	for service, operations := range called {
		m, err := readModel(filepath.Join(botocore, "data", cmp.Or(folders[service], service)))
		if err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
		t.Services[service] = map[string]awsmodels.Codes{}
		for _, operation := range operations {
			if t.Services[service][operation], err = m.errorsOf(operation); err != nil {
				return fmt.Errorf("%s: %w", service, err)
			}
		}
	}
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// model is the part of a service model that is read.
type model struct {
	Operations map[string]struct {
		Errors []struct{ Shape string }
	}
	Shapes map[string]struct {
		// Fault says that the server is at fault.
		Fault bool
		Error struct {
			Code           string
			HTTPStatusCode int `json:"httpStatusCode"`
		}
	}
}

// readModel reads the latest version of a service.
func readModel(folder string) (m model, err error) {
	versions, err := filepath.Glob(filepath.Join(folder, "*", "service-2.json.gz"))
	if err != nil || len(versions) == 0 {
		return m, fmt.Errorf("no model in %s: %w", folder, err)
	}
	f, err := os.Open(slices.Max(versions))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := gzip.NewReader(f)
	if err != nil {
		return m, err
	}
	return m, json.NewDecoder(text).Decode(&m)
}

// errorsOf returns the errors of an operation that are the caller's.
func (m model) errorsOf(operation string) (awsmodels.Codes, error) {
	o, ok := m.Operations[operation]
	if !ok {
		return "", fmt.Errorf("the model has no operation %s", operation)
	}
	var found []string
	for _, e := range o.Errors {
		if s := m.Shapes[e.Shape]; !s.Fault && s.Error.HTTPStatusCode < 500 {
			found = append(found, cmp.Or(s.Error.Code, e.Shape))
		}
	}
	slices.Sort(found)
	return awsmodels.Codes(strings.Join(slices.Compact(found), " ")), nil
}
