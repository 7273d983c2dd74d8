// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// pullState says how a person gets a state that can be read.
const pullState = "write the state itself with `terraform state pull > FILE`, or `tofu state pull > FILE`"

// stateFile is a state of Terraform, version 4 of the format.
type stateFile struct {
	Resources []stateResource
}

// stateResource is a resource block with its instances.
type stateResource struct {
	Module, Mode, Type, Name string
	Instances                []stateInstance
}

type stateInstance struct {
	IndexKey   any `json:"index_key"`
	Deposed    string
	Status     string
	Attributes map[string]any
}

// address names an instance as Terraform does.
func (r stateResource) address(i stateInstance) string {
	out := strings.TrimPrefix(r.Module+"."+r.Type+"."+r.Name, ".")
	switch key := i.IndexKey.(type) {
	case nil:
		return out
	case string:
		return fmt.Sprintf("%s[%q]", out, key)
	default:
		return fmt.Sprintf("%s[%v]", out, key)
	}
}

// text returns an attribute that is a text, and "" for others.
func (i stateInstance) text(attribute string) string {
	out, _ := i.Attributes[attribute].(string)
	return out
}

// texts returns all texts in the attributes, at any depth.
func (i stateInstance) texts() map[string]bool {
	out := map[string]bool{}
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			out[v] = v != ""
		case []any:
			for _, e := range v {
				collect(e)
			}
		case map[string]any:
			for _, e := range v {
				collect(e)
			}
		}
	}
	collect(i.Attributes)
	return out
}

// readState reads a state file. If the text is not one, the error describes the text and the remedy.
func readState(text []byte) (stateFile, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return stateFile{}, fmt.Errorf("the file is empty, and no Terraform state; %s", pullState)
	}
	if bytes.HasPrefix(text, []byte("PK\x03\x04")) {
		return stateFile{}, fmt.Errorf("the file is a plan or an archive, and no Terraform state; %s", pullState)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return stateFile{}, fmt.Errorf("the file is no Terraform state, because it is not JSON; if it is a configuration (.tf), %s", pullState)
	}
	if err := checkFormat(members); err != nil {
		return stateFile{}, err
	}
	var file stateFile
	if err := json.Unmarshal(text, &file); err != nil {
		return stateFile{}, fmt.Errorf("reading the Terraform state: %w", err)
	}
	return file, nil
}

// checkFormat refuses every other file that people take for a state.
func checkFormat(members map[string]json.RawMessage) error {
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := members[n]; ok {
				return true
			}
		}
		return false
	}
	switch {
	case has("encrypted_data"):
		return fmt.Errorf("OpenTofu has encrypted the state; write it without encryption with `tofu state pull > FILE`")
	case has("planned_values", "resource_changes"):
		return fmt.Errorf("the file describes a plan (`terraform show -json PLAN`), and no Terraform state; %s", pullState)
	case has("format_version"):
		return fmt.Errorf("the file is the output of `terraform show -json`, and no Terraform state; %s", pullState)
	case has("deployment", "checkpoint"):
		return fmt.Errorf("the file is a stack of Pulumi, and no Terraform state; import its resources by their names or ARNs")
	case has("backend") && !has("resources"):
		return fmt.Errorf("the file only says in which backend the state is; %s", pullState)
	default:
		return checkVersion(strings.Trim(string(members["version"]), `"`))
	}
}

func checkVersion(version string) error {
	switch version {
	case "4":
		return nil
	case "":
		return fmt.Errorf("the file is no Terraform state, because it has no version; %s", pullState)
	case "1", "2", "3":
		return fmt.Errorf("the Terraform state has version %s of the format, which Terraform wrote before 0.12; only version 4 can be read: let a newer Terraform write it", version)
	default:
		return fmt.Errorf("the Terraform state has version %s of the format; only version 4 can be read (Terraform 0.12 and later): look for a newer nexusctl", version)
	}
}
