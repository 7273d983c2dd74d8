// SPDX-License-Identifier: Apache-2.0

package awsmodels

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed handlers.json
var handlers []byte

// Handlers holds the rights that AWS's own resource providers need, as the resource schemas of CloudFormation list them.
type Handlers struct {
	// Source is the name and version of the package that the schemas are of.
	Source string `json:"source"`
	// Date is the day of the generation of the table from the package.
	Date string `json:"date"`
	// Types are the rights to create, change and delete a resource, by its type in CloudFormation.
	Types map[string]Codes `json:"types"`
	// Properties are the settings of a resource, without those that can only be read, by its type in CloudFormation.
	Properties map[string]Codes `json:"properties"`
	// Transforms are the properties that AWS shows in another form than it was sent, such as AWS::RDS::DBInstance/DBName, sorted.
	Transforms []string `json:"transforms"`
}

// ReadHandlers returns the checked-in rights of the resource schemas.
func ReadHandlers() (Handlers, error) {
	var h Handlers
	if err := json.Unmarshal(handlers, &h); err != nil {
		return Handlers{}, fmt.Errorf("handlers.json: %w", err)
	}
	return h, nil
}
