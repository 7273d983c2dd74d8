// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// habitual is a life of a type with a habit of its handlers: it begins with the properties of the life, and each of some others is added
// and changed.
func (l *anyLife) habitual(t *testing.T, types *awstypes.Types, h cloudcontrol.Habit, others []string) {
	t.Helper()
	l.place(t, types, l.properties)
	l.double.SetHabit(h)
	kindtest.Settled(t, l.Subject)
	l.rests()
	declared := l.properties
	for _, name := range others {
		for seed := range 2 {
			value, ok := l.sample.Another(declared, name, seed+1)
			if !ok || sameJSON(declared[name], value) || l.sameSet(name, declared[name], value) {
				continue
			}
			declared = maps.Clone(declared)
			declared[name] = value
			l.declare(declared)
			if _, err := l.Settle(t.Context(), nil); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, l.Rig.AWS.Calls())
			}
			if got := l.shown(name); !l.showsAs(name, got, value) {
				t.Errorf("%s is %v, want %v", name, got, value)
			}
			l.rests()
		}
	}
	l.Deleting = true
	kindtest.Settled(t, l.Subject)
}

// showsAs reports whether AWS has a value of a property, or shows none because it is empty or the default.
func (l *anyLife) showsAs(name string, got, value any) bool {
	if got == nil && (value == "" || l.schema.At(name).IsDefault(value)) || includes(got, value) {
		return true
	}
	members, isObject := value.(map[string]any)
	have, _ := got.(map[string]any)
	for member, of := range members {
		if !includes(have[member], of) && !(have[member] == nil && l.schema.At(name, member).IsDefault(of)) {
			return false
		}
	}
	return isObject && got != nil
}

// rests looks once more at an unchanged resource.
func (l *anyLife) rests() {
	l.t.Helper()
	mark := l.Rig.AWS.Mark()
	kindtest.Settled(l.t, l.Subject)
	if calls := l.Rig.AWS.Since(mark); calls.Writes().Count() > 0 || len(calls) != 1 {
		l.t.Fatalf("a look at what is as declared:\n%s", calls)
	}
}

var habits = map[string]cloudcontrol.Habit{"empty values": cloudcontrol.StoresEmpty, "no defaults": cloudcontrol.OmitsDefaults,
	"nothing empty": cloudcontrol.OmitsEmpty}

// For all values that the handlers of a type store and show for omitted properties, an object stops writing, and can be changed.
func TestTypes_LiveWithTheHabitsOfHandlers(t *testing.T) {
	eachType(t, 10, allOfSample, func(t *testing.T, types *awstypes.Types, l *anyLife, turn int) {
		for what, h := range habits {
			t.Run(what, func(t *testing.T) {
				l, _ := typeLife(t, types, l.schema.Name)
				others, _ := l.editable()
				if h == cloudcontrol.StoresEmpty { // they stand for omitted properties
					l.properties = l.required(t)
				}
				l.habitual(t, types, h, some(others, turn))
			})
		}
	})
}

// some returns two of several properties, others in each turn.
func some(names []string, turn int) []string {
	if len(names) <= 2 {
		return names
	}
	return []string{names[turn%len(names)], names[(turn+len(names)/2)%len(names)]}
}

// required returns the properties that have to be there, and those that name the resource: the double gives others names that a schema
// may refuse.
func (l *anyLife) required(t *testing.T) map[string]any {
	t.Helper()
	out, err := l.sample.Required(1)
	kindtest.Must(t, err)
	for _, name := range l.schema.Properties() {
		if l.names(name) && out[name] == nil && !l.schema.At(name).Rule().ReadOnly {
			if value, ok := l.sample.Another(out, name, 1); ok {
				out[name] = value
			}
		}
	}
	delete(out, l.schema.Tags.Property())
	return out
}

// names reports whether a property is a part of the identifier, or has one in it.
func (l *anyLife) names(property string) bool {
	return slices.ContainsFunc(l.schema.Identity.Parts(), func(at string) bool {
		return at == property || strings.HasPrefix(at, property+".")
	})
}

// The handlers of a gateway store empty lists of clients and scopes, which their schema refuses at the next update:
// https://github.com/hashicorp/terraform-provider-awscc/issues/3186
func TestGateway_IsChangedWithoutTheEmptyListsOfAWS(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	const gateway = `{"Name":"tools","ProtocolType":"MCP","AuthorizerType":"CUSTOM_JWT","RoleArn":"arn:aws:iam::123456789012:role/tools",
		"AuthorizerConfiguration":{"CustomJWTAuthorizer":{"DiscoveryUrl":"https://id.example/.well-known/openid-configuration"}},"Description":"DESCRIPTION"}`
	typeName := "AWS::BedrockAgentCore::Gateway"
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf(typeName, gateway)), types)
	b.double.SetHabit(cloudcontrol.StoresEmpty)
	kindtest.Settled(t, b.Subject)
	id := b.resource().Status.ID
	authorizer := func() map[string]any {
		return b.double.Properties(typeName, id)["AuthorizerConfiguration"].(map[string]any)["CustomJWTAuthorizer"].(map[string]any)
	}
	if authorizer()["AllowedClients"] == nil {
		t.Fatal("the double stores no empty lists: the test proves nothing")
	}
	b.edit(strings.ReplaceAll(gateway, "DESCRIPTION", "tools of the shop"))
	kindtest.Settled(t, b.Subject)
	if got := b.double.Properties(typeName, id)["Description"]; got != "tools of the shop" {
		t.Errorf("%v", got)
	}
	b.edit(strings.ReplaceAll(gateway, `configuration"}`, `configuration","AllowedClients":["shop"]}`))
	kindtest.Settled(t, b.Subject)
	if got := authorizer()["AllowedClients"]; !sameJSON(got, []any{"shop"}) {
		t.Errorf("%v", got)
	}
}

// AWS wants properties in every update of some types that it neither shows nor lets be set again, and says only the first half:
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2205
func TestDataSource_SaysThatItCannotBeChanged(t *testing.T) {
	types, err := awstypes.Bundled()
	kindtest.Must(t, err)
	const project = `{"DomainIdentifier":"dzd_1234567","Name":"shop"}`
	b := placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, resourceOf("AWS::DataZone::Project", project)), types)
	kindtest.Settled(t, b.Subject)
	b.edit(strings.ReplaceAll(project, "shop", "shops"))
	message := b.stalls(status.ReasonRefusedByAWS)
	for _, text := range []string{"required key [DomainIdentifier]", "cannot change a resource of type AWS::DataZone::Project",
		"delete the object and create it again"} {
		if !strings.Contains(message, text) {
			t.Errorf("%q is not in: %s", text, message)
		}
	}
}
