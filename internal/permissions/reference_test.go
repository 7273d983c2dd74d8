// SPDX-License-Identifier: Apache-2.0

package permissions_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// decisions are the differences between AWS's reference and the printed policies that are about no kind, with the reason. Those about the
// actions of a kind are Decided in its facts.
var decisions = map[string]string{
	"eventbridge PutRule events:PutRule":               "only nexusctl makes rules, with the rights of the installer",
	"eventbridge PutRule events:TagResource":           "only nexusctl makes rules, with the rights of the installer",
	"sts GetCallerIdentity iam:DeleteVirtualMFADevice": "an example in the text",
	"sts GetCallerIdentity sts:GetCallerIdentity":      "needs no right",
}

// policies are the operator's printed policies for all kinds.
type policies []iampolicy.Statement

func printed(t *testing.T) policies {
	t.Helper()
	var metas []kind.Meta
	for _, k := range catalog.Kinds() {
		metas = append(metas, k.Meta())
	}
	documents, _, err := permissions.Operator(metas, permissions.Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-"})
	if err != nil {
		t.Fatal(err)
	}
	var all policies
	for _, d := range documents {
		all = append(all, d.Statement...)
	}
	return all
}

// actions returns the resources of each action.
func (p policies) actions() map[string][]string {
	all := map[string][]string{}
	for _, s := range p {
		for _, action := range s.Action {
			all[action] = append(all[action], s.Resource...)
		}
	}
	return all
}

// through are the conditions that limit a right to calls through a service.
var through = map[string]string{"kms": "kms:ViaService", "iam:PassRole": "iam:PassedToService",
	"iam:CreateServiceLinkedRole": "iam:AWSServiceName"}

// allow reports whether an action is allowed to who calls another service's.
func (p policies) allow(action, service string) bool {
	prefix, _, _ := strings.Cut(action, ":")
	key := through[action]
	if prefix != service && key == "" {
		key = through[prefix]
	}
	return slices.ContainsFunc(p, func(s iampolicy.Statement) bool {
		if !slices.Contains(s.Action, action) {
			return false
		}
		for _, values := range s.Condition {
			for _, v := range values[key] {
				if name, _, _ := strings.Cut(v, "."); name == service || key == through["iam:CreateServiceLinkedRole"] &&
					servicesOfRoles[service] == v {
					return true
				}
			}
		}
		return key == ""
	})
}

// servicesOfRoles are the names of services in their separate roles, if these do not begin with the service's.
var servicesOfRoles = map[string]string{"kms": "mrk.kms.amazonaws.com"}

// comparison notes differences.
type comparison struct {
	*testing.T
	decided map[string]string
	used    map[string]bool
}

func newComparison(t *testing.T) comparison {
	t.Helper()
	all := maps.Clone(decisions)
	for _, k := range catalog.Kinds() {
		for key, reason := range k.Meta().Facts.Rights.Decided {
			if all[key] != "" {
				t.Errorf("%s: %q is decided twice", k.Name(), key)
			}
			all[key] = reason
		}
	}
	return comparison{t, all, map[string]bool{}}
}

func (c comparison) differs(key, what string) {
	if c.used[key] = true; c.decided[key] == "" {
		c.Errorf("%q: %s", key, what)
	}
}

// TestReference_EveryActionHasWhatAWSSaysItNeeds compares the printed policies with the service authorization reference, which has
// the resources that AWS marks as required and the actions that depend on others, and with the texts of the service models,
// which name rights that the reference lacks.
func TestReference_EveryActionHasWhatAWSSaysItNeeds(t *testing.T) {
	reference, err := awsmodels.ReadReference()
	if err != nil {
		t.Fatal(err)
	}
	models, err := awsmodels.Read()
	if err != nil {
		t.Fatal(err)
	}
	p, c := printed(t), newComparison(t)
	all := p.actions()
	for action, resources := range all {
		known, ok := reference.Actions[action]
		if !ok {
			c.differs(action, "is no action of the reference: correct its name, run make awsmodels, or write down why")
			continue
		}
		for _, arn := range known.Resources {
			if !covered(resources, arn) {
				c.differs(action+" "+arn, "the policy has no resource of this type: add it, or write down why")
			}
		}
		service, _, _ := strings.Cut(action, ":")
		for _, dependent := range known.Dependents {
			if !p.allow(dependent, service) {
				c.differs(action+" "+dependent, "the reference says that the first needs the second, which the policy does not allow")
			}
		}
	}
	c.compareTagging(all, reference)
	for operation, named := range models.Named {
		service, _, _ := strings.Cut(operation, " ")
		for _, action := range named.All() {
			if !p.allow(action, service) {
				c.differs(operation+" "+action, "the text of the operation names the action, which the policy does not allow")
			}
		}
	}
	for key := range c.decided {
		if !c.used[key] {
			t.Errorf("the decision on %q is about nothing", key)
		}
	}
	if len(all) < 200 || len(models.Named) < 30 {
		t.Errorf("only %d actions are printed, and the texts of %d operations name some", len(all), len(models.Named))
	}
}

// compareTagging looks for a right to tag beside each action that can give tags in its request.
func (c comparison) compareTagging(all map[string][]string, reference awsmodels.Reference) {
	tagging := map[string]bool{} // services
	for action := range all {
		service, _, _ := strings.Cut(action, ":")
		tagging[service] = tagging[service] || reference.Actions[action].Tagging
	}
	for action := range all {
		service, _, _ := strings.Cut(action, ":")
		if a := reference.Actions[action]; a.Tags && !a.Tagging && !tagging[service] {
			c.differs(action+" tags", "a request can give tags, and no action of the service that changes tags is allowed")
		}
	}
}

// covered reports whether one of the resources of a policy is of the type of an ARN with placeholders.
func covered(resources []string, arn string) bool {
	want := strings.SplitN(arn, ":", 6)
	literal, _, _ := strings.Cut(want[5], "${")
	return slices.ContainsFunc(resources, func(r string) bool {
		if r == "*" {
			return true
		}
		parts := strings.SplitN(r, ":", 6)
		if len(parts) < 6 || parts[2] != want[2] {
			return false
		}
		fixed, _, open := strings.Cut(parts[5], "*")
		return strings.HasPrefix(fixed, literal) || open && strings.HasPrefix(literal, fixed)
	})
}
