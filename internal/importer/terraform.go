// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// kindOfParameters declares many parameters; each of them is a resource of Terraform.
const kindOfParameters = "SSMParameterSet"

// terraformTypes are the kinds, by the known facts about their types in Terraform.
type terraformTypes []engine.Entry

// kindOf returns the kind of a type, with the attributes that identify a resource; "" for types that no kind declares.
func (t terraformTypes) kindOf(typeName string) (kindName string, attributes []string) {
	for _, e := range t {
		if known := e.Meta().Facts.Terraform; known.Type == typeName {
			return e.Name(), known.Identity
		}
	}
	return "", nil
}

// partOf returns the kind that declares the settings of a type; "" for types that are no settings.
func (t terraformTypes) partOf(typeName string) string {
	for _, e := range t {
		for _, beginning := range e.Meta().Facts.Terraform.Parts {
			if strings.HasPrefix(typeName, beginning) {
				return e.Name()
			}
		}
	}
	return ""
}

// State holds the contents of a Terraform state.
type State struct {
	// Found are the resources that a kind declares.
	Found []Resource
	// PassedOver are sentences about resources that are not imported. Each begins with the address.
	PassedOver []string
	// Nothing says why there is nothing to import; "" where something is found.
	Nothing string
}

// stateReader sorts the instances of a state.
type stateReader struct {
	State
	types terraformTypes
	// resourceTypes are the types without a kind; nil for none. byWord are their names, see typeNames.
	resourceTypes ResourceTypes
	byWord        map[string]string
	// found are the instances of the resources in Found, in their order.
	found []stateInstance
	// parts are the settings of other resources, and others the resources that no kind declares.
	parts, others []addressed
	data          int
}

// addressed is an instance with its type and address.
type addressed struct {
	stateInstance
	typeName, address string
}

// FromTerraform returns the resources of the kinds, and of other resource types, that a state file of Terraform (version 4 of the format)
// manages. Errors say why the text is no such file. Without types (nil), no other resource types are found.
func FromTerraform(kinds []engine.Entry, types ResourceTypes, text []byte) (State, error) {
	file, err := readState(text)
	if err != nil {
		return State{}, err
	}
	r := &stateReader{types: kinds, resourceTypes: types}
	for _, block := range file.Resources {
		if err := r.add(block); err != nil {
			return State{}, err
		}
	}
	r.explainOthers()
	r.explainParts()
	found, alone := inSets(r.Found)
	for _, a := range alone {
		r.pass(a, "a parameter without a path belongs to no SSMParameterSet")
	}
	if r.Found = found; len(found) == 0 {
		r.Nothing = r.nothing()
	}
	return r.State, nil
}

func (r *stateReader) nothing() string {
	switch {
	case len(r.PassedOver) > 0:
		return "the Terraform state manages nothing that can be imported"
	case r.data > 0:
		return "the Terraform state has only data sources, which Terraform reads and does not manage: there is nothing to import"
	default:
		return "the Terraform state manages no resources: there is nothing to import; is it of the right workspace?"
	}
}

func (r *stateReader) pass(address, why string) {
	r.PassedOver = append(r.PassedOver, fmt.Sprintf("%s: passed over, %s", address, why))
}

// add sorts the instances of a block.
func (r *stateReader) add(block stateResource) error {
	if block.Mode != "managed" {
		r.data++
		return nil
	}
	kindName, attributes := r.types.kindOf(block.Type)
	isKnown, isPart := kindName != "", r.types.partOf(block.Type) != ""
	if !isKnown && !isPart && len(block.Instances) == 0 {
		block.Instances = []stateInstance{{}} // it is listed all the same
	}
	for _, i := range block.Instances {
		at := addressed{i, block.Type, block.address(i)}
		switch {
		case i.Deposed != "":
			r.pass(at.address, fmt.Sprintf("it is deposed (%s): Terraform has replaced it and is still to delete it", i.Deposed))
		case isKnown:
			r.find(at, kindName, attributes)
		case isPart:
			r.parts = append(r.parts, at)
		default:
			if ofType, err := r.findType(at); err != nil {
				return err
			} else if !ofType {
				r.others = append(r.others, at)
			}
		}
	}
	return nil
}

// find adds a resource that a kind declares.
func (r *stateReader) find(at addressed, kindName string, attributes []string) {
	var values []string
	for _, attribute := range attributes {
		a, optional := strings.CutSuffix(attribute, kind.OptionalIdentity)
		if at.text(a) == "" && !optional {
			r.pass(at.address, fmt.Sprintf("the state does not say its %s", a))
			return
		}
		values = append(values, at.text(a))
	}
	found := Resource{Kind: kindName, Name: strings.Join(values, "/"), Address: at.address, ARN: arnOf(at.stateInstance),
		Region: at.text("region"), Account: accountOf(at.stateInstance)}
	r.addFound(at, found)
}

// arnOf returns the ARN of an instance; "" where its attributes have none.
func arnOf(i stateInstance) string {
	for _, attribute := range []string{"arn", "association_arn", "id"} {
		if text := i.text(attribute); strings.HasPrefix(text, "arn:") {
			return text
		}
	}
	return ""
}

var accountID = regexp.MustCompile(`^[0-9]{12}$`)

// accountOf returns the account of an instance; "" where its attributes do not name it.
func accountOf(i stateInstance) string {
	for _, attribute := range []string{"owner_id", "registry_id", "catalog_id", "owner"} {
		if text := i.text(attribute); accountID.MatchString(text) {
			return text
		}
	}
	return ""
}

// assignedID matches identifiers that AWS assigns and that name one resource, such as vpc-0a1b2c3d.
var assignedID = regexp.MustCompile(`^[a-z]+-[0-9a-f]{8,}$`)

// explainOthers lists the resources that no kind declares, with the resources that depend on them: those that name them, and those with a
// setting that does.
func (r *stateReader) explainOthers() {
	for _, o := range r.others {
		var names []string
		for _, text := range []string{arnOf(o.stateInstance), o.text("id")} {
			if strings.HasPrefix(text, "arn:") || assignedID.MatchString(text) {
				names = append(names, text)
			}
		}
		dependents := r.dependents(names)
		if len(dependents) == 0 {
			r.pass(o.address, "no kind declares it")
			continue
		}
		r.pass(o.address, "no kind declares it; keep it, because it is used by "+strings.Join(dependents, ", "))
	}
}

// dependents returns the found resources that name one of the texts.
func (r *stateReader) dependents(names []string) []string {
	var out []string
	for i, f := range r.Found {
		instances := []stateInstance{r.found[i]}
		for _, p := range r.parts {
			if r.isPartOf(p, i) {
				instances = append(instances, p.stateInstance)
			}
		}
		if slices.ContainsFunc(instances, func(in stateInstance) bool {
			texts := in.texts()
			return slices.ContainsFunc(names, func(n string) bool { return texts[n] })
		}) {
			out = append(out, f.String())
		}
	}
	return out
}

// isPartOf reports whether a setting names the found resource.
func (r *stateReader) isPartOf(part addressed, i int) bool {
	found := r.Found[i]
	texts := part.texts()
	return r.types.partOf(part.typeName) == found.Kind && (texts[found.Name] || texts[found.ARN] || texts[r.found[i].text("id")])
}

// explainParts lists the settings of resources that the state does not manage.
func (r *stateReader) explainParts() {
	for _, p := range r.parts {
		belongs := false
		for i := range r.Found {
			belongs = belongs || r.isPartOf(p, i)
		}
		if kindName := r.types.partOf(p.typeName); !belongs {
			r.pass(p.address, fmt.Sprintf("it is a setting of a resource that this state does not manage: import that %s by its name", kindName))
		}
	}
}

// inSets replaces parameters by sets: those below one path of an account and region are in one set, which has the shortest path. A set
// declares no other parameters of its path. Alone are the addresses of parameters without a path, which no set can contain.
func inSets(all []Resource) (found []Resource, alone []string) {
	isParameter := func(r Resource) bool { return r.Kind == kindOfParameters }
	type below struct{ where, path string }
	var paths []below
	for _, r := range all {
		if isParameter(r) {
			paths = append(paths, below{r.home().key(), pathOf(r.Name)})
		}
	}
	slices.SortFunc(paths, func(a, b below) int { return strings.Compare(a.path, b.path) })
	sets := map[below]*Resource{}
	for _, r := range all {
		if !isParameter(r) {
			continue
		}
		i := slices.IndexFunc(paths, func(h below) bool {
			return h.where == r.home().key() && h.path != "" && strings.HasPrefix(r.Name, h.path+"/")
		})
		if i < 0 {
			alone = append(alone, r.Address)
			continue
		}
		set := sets[paths[i]]
		if set == nil {
			at := r.home()
			set = &Resource{Kind: kindOfParameters, Name: strings.Trim(paths[i].path, "/"), Address: r.Address, Partition: at.partition,
				Account: at.account, Region: at.region}
			sets[paths[i]] = set
		}
		set.Parameters = append(set.Parameters, strings.TrimPrefix(r.Name, paths[i].path+"/"))
	}
	found = slices.DeleteFunc(all, isParameter)
	for _, at := range slices.SortedFunc(maps.Keys(sets), func(a, b below) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.where, b.where))
	}) {
		slices.Sort(sets[at].Parameters)
		found = append(found, *sets[at])
	}
	return found, alone
}

// pathOf is the path of a parameter; "" without one.
func pathOf(parameter string) string {
	if !strings.HasPrefix(parameter, "/") {
		return ""
	}
	return parameter[:strings.LastIndex(parameter, "/")]
}
