// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// suspects recognizes the definition of a field that names a resource of a kind, by its name, pattern or description.
var suspects = map[string]struct{ name, pattern, description *regexp.Regexp }{
	"KMSKey": {regexp.MustCompile(`(?i)kms|encryptionkey|keyarn$`), regexp.MustCompile(`:kms:`),
		regexp.MustCompile(`(?i)\bkms\w* key|\bkey of kms|KMSKey\b`)},
	"IAMRole": {regexp.MustCompile(`(?i)role(arn|ref|name|id)?$|instanceprofile`), regexp.MustCompile(`:(role|instance-profile)/`),
		regexp.MustCompile(`(?i)(name|ARN) of the role|IAMRole (object|of)|instance profile`)},
}

// notNaming are fields that look like the name of a resource and are none.
var notNaming = []string{
	"IAMRole.roleName", "IAMRole.instanceProfile.name", // the names of the object's own resources
	"KMSKey.keyPolicy", // a policy that names roles does not need them
}

// stringFields calls visit for each field of a schema that is a text or a reference, with an object that sets it.
func stringFields(s apiextensionsv1.JSONSchemaProps, path string, set func(any) any,
	visit func(path string, s apiextensionsv1.JSONSchemaProps, set func(any) any)) {
	if _, isReference := s.Properties["name"]; s.Type == "string" || isReference && len(s.Properties) == 1 && strings.HasSuffix(path, "Ref") {
		visit(path, s, set)
		return
	}
	for name, p := range s.Properties {
		stringFields(p, strings.TrimPrefix(path+"."+name, "."), func(v any) any { return set(map[string]any{name: v}) }, visit)
	}
	if s.Items != nil {
		stringFields(*s.Items.Schema, path, func(v any) any { return set([]any{v}) }, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		stringFields(*s.AdditionalProperties.Schema, path, func(v any) any { return set(map[string]any{"key": v}) }, visit)
	}
}

// A field of a new kind that names a key, or a role, holds its deletion without another line of code; one with another name
// fails here until fieldsNaming of package engine has it.
func TestUsers_AreFoundByEveryFieldThatNamesThem(t *testing.T) {
	found := map[string][]string{}
	for _, e := range catalog.Kinds() {
		text, err := os.ReadFile(filepath.Join("../../../config/crd/bases", "aws-infra-operator.runner.codes_"+pluralOf(t, e.Name())+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		stringFields(spec, "", func(v any) any { return map[string]any{"spec": v} },
			func(path string, s apiextensionsv1.JSONSchemaProps, set func(any) any) {
				for kind, suspect := range suspects {
					name := path[strings.LastIndex(path, ".")+1:]
					looks := suspect.name.MatchString(name) || suspect.pattern.MatchString(s.Pattern) || suspect.description.MatchString(s.Description)
					obj := e.New()
					if names := decode(t, set, s, obj) && engine.NamesAny(obj, kind); names {
						found[kind] = append(found[kind], e.Name()+"."+path)
					} else if looks && !slices.Contains(notNaming, e.Name()+"."+path) {
						t.Errorf("%s.%s looks like the name of a %s, and engine.Uses does not read it: %s", e.Name(), path, kind, s.Description)
					}
				}
			})
	}
	for kind, atLeast := range map[string]int{"KMSKey": 21, "IAMRole": 13} {
		if slices.Sort(found[kind]); len(found[kind]) < atLeast {
			t.Errorf("only %q name a %s", found[kind], kind)
		}
	}
}

// The page on deletion names the kinds of objects that a role waits for.
func TestUsers_OfRolesAreNamedInTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/deletion.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "A role is deleted after the ")
	list, _, ended := strings.Cut(list, "that act as it")
	if !found || !ended {
		t.Fatal("no list of the kinds")
	}
	for _, e := range catalog.Kinds() {
		if uses, named := engine.MayUse(e.New(), "IAMRole"), strings.Contains(list, "`"+e.Name()+"`"); uses != named {
			t.Errorf("objects of %s can hold a role: %v, and the page names them: %v", e.Name(), uses, named)
		}
	}
}

// decode sets one field of an object; it reports whether the object can have it.
func decode(t *testing.T, set func(any) any, s apiextensionsv1.JSONSchemaProps, into any) bool {
	t.Helper()
	var value any = "x"
	if s.Type != "string" {
		value = map[string]any{"name": "x"}
	}
	text, err := json.Marshal(set(value))
	if err != nil {
		t.Fatal(err)
	}
	return json.Unmarshal(text, into) == nil
}

func pluralOf(t *testing.T, kind string) string {
	t.Helper()
	all, err := filepath.Glob("../../../config/crd/bases/aws-infra-operator.runner.codes_*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		plural := strings.TrimSuffix(file[strings.LastIndex(file, "_")+1:], ".yaml")
		if singular := strings.ToLower(kind); plural == singular+"s" || plural == singular+"es" || strings.TrimSuffix(plural, "ies")+
			"y" == singular {
			return plural
		}
	}
	t.Fatalf("no definition of %s", kind)
	return ""
}

// The kinds that name a resource never wait, in their deletions, for something that waits for them.
func TestUsers_OfKindsThatAreHeldFormNoCycle(t *testing.T) {
	held := map[string][]string{} // kind: those that hold it
	for _, target := range catalog.Kinds() {
		if target.Meta().Users == 0 {
			continue
		}
		for _, user := range catalog.Kinds() {
			if engine.MayUse(user.New(), target.Name()) {
				held[target.Name()] = append(held[target.Name()], user.Name())
			}
		}
		if len(held[target.Name()]) == 0 {
			t.Errorf("nothing names a %s", target.Name())
		}
	}
	var visit func(kind string, path []string)
	visit = func(kind string, path []string) {
		if slices.Contains(path, kind) {
			t.Fatalf("deletions wait for each other: %q", append(path, kind))
		}
		for _, user := range held[kind] {
			visit(user, append(slices.Clone(path), kind))
		}
	}
	for kind := range held {
		visit(kind, nil)
	}
}
