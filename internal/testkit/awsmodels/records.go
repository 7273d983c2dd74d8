// SPDX-License-Identifier: Apache-2.0

package awsmodels

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed records.json
var records []byte

// Records holds the records of users of other tools about AWS's answers: fields that come back in another form than they were sent.
type Records struct {
	// Date is the day when the records were read.
	Date    string   `json:"date"`
	Records []Record `json:"records"`
}

// Record is one such form of an answer.
type Record struct {
	// Kind and Field name a field of a spec, and Property is its name in AWS.
	Kind     string `json:"kind"`
	Field    string `json:"field"`
	Property string `json:"property"`
	// Form describes the form that clients send and the form that AWS answers; Source is where a user or a tool recorded it; "from memory"
	// marks one that was not read again.
	Form   string `json:"form"`
	Source string `json:"source"`
	// Decision is InCatalog, Undeclared, Refused with a value in JSON that the schema refuses, or why nothing is written for it.
	Decision string `json:"decision"`
}

// Decisions on records that tests confirm.
const (
	InCatalog  = "catalog"
	Undeclared = "undeclared"
	Refused    = "refused: "
)

// ReadRecords returns the checked-in records.
func ReadRecords() (Records, error) {
	var r Records
	if err := json.Unmarshal(records, &r); err != nil {
		return Records{}, fmt.Errorf("records.json: %w", err)
	}
	return r, nil
}
