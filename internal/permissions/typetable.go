// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// compressedTypes is made by `make awsmodels`.
//
//go:embed types.json.gz
var compressedTypes []byte

// typeTable has the actions that the handlers of AWS's resource types call, and the resources that AWS evaluates for them.
type typeTable struct {
	// Source names the packages, with their versions, that the table is made of.
	Source  string                 `json:"source"`
	Types   map[string]typeRights  `json:"types"`
	Actions map[string]typedAction `json:"actions"`
}

// typeRights are the actions of the handlers of a type.
type typeRights struct {
	Create actionList `json:"create"`
	Read   actionList `json:"read"`
	Update actionList `json:"update"`
	Delete actionList `json:"delete"`
	List   actionList `json:"list"`
	// Tagged is set where a create gives the resource its tags.
	Tagged bool `json:"tagged"`
}

// actionList holds names of actions, separated by spaces.
type actionList string

func (l actionList) all() []string { return strings.Fields(string(l)) }

// has reports whether an action is in the list.
func (l actionList) has(action string) bool {
	return strings.Contains(" "+string(l)+" ", " "+action+" ")
}

// typedAction holds the entry of the service authorization reference for an action.
type typedAction struct {
	// Level is the level of access: Read, List, Write, Tagging or Permissions management.
	Level string `json:"level"`
	// ARNs are the templates of the resources that AWS evaluates, separated by spaces; none where it evaluates no resource.
	ARNs string `json:"arns"`
	// Required lists the templates of ARNs that every request names.
	Required string `json:"required"`
	// Tagged is set where all are of one type, and AWS evaluates their tags.
	Tagged bool `json:"tagged"`
	// Given is set where AWS evaluates the tags of the request.
	Given bool `json:"given"`
	// own lists the ARNs among them for the resources of one type, if AWS evaluates their tags.
	own string
}

// reads reports whether the action changes nothing.
func (a typedAction) reads() bool { return a.Level == "Read" || a.Level == "List" }

// typeRightsOfAWS returns the table, which is decompressed when it is first needed.
var typeRightsOfAWS = sync.OnceValues(readTypeTable)

func readTypeTable() (*typeTable, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressedTypes))
	if err != nil {
		return nil, fmt.Errorf("the rights of resource types: %w", err)
	}
	t := &typeTable{}
	if err := json.NewDecoder(r).Decode(t); err != nil {
		return nil, fmt.Errorf("the rights of resource types: %w", err)
	}
	return t, nil
}
