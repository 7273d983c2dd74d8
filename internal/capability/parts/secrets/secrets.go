// SPDX-License-Identifier: Apache-2.0

// Package secrets is spec.secrets.
package secrets

import (
	"fmt"
	"regexp"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the secrets: of their kind, step, access and purposes.
const (
	kindSecret  = "SecretsManagerSecret"
	StepSecrets = "Secrets"
	ofSecrets   = "secrets"
)

// secretNames fits the names of secrets in Secrets Manager.
var secretNames = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`)

// existingSecrets describes the ARNs of secrets that exist already.
var existingSecrets = part.ExistingKind{Noun: "secret", Service: "secretsmanager", Prefix: "secret:", Names: secretNames, Most: 512,
	Ending: secretEnding}

// Part is spec.secrets.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 5, Name: StepSecrets, Phase: nexusv1.PhaseProvisioningSecrets, Condition: nexusv1.ConditionSecretsReady}},
		Kinds: []part.KindFacts{{
			Kind: kindSecret, Step: StepSecrets, Removed: part.Removal{Stage: part.RemovesData + 10, Steps: []string{StepSecrets}}, Grants: true,
			IsSecret: true, IsBilled: true,
			Refusal:  "is declared in spec.secrets",
			Existing: &existingSecrets,
		}},
		Checks: []part.Turn[part.Checking]{part.At(80,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkSecrets(v, &c.Spec) })},
		Compile: []func(*part.Compiler){addSecrets},
		Rights:  []part.Turn[part.Granting]{part.At(50, secretStatements)},
		Values:  secretValues,
		Entries: part.Stores[nexusv1.SecretSpec]{
			Place: 100, Field: ofSecrets, EncryptedBy: "secretsmanager", At: "spec.secrets", Of: existingSecret,
			Declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.SecretSpec { return s.Secrets },
			Selected: secretsOf, Hint: secretHint,
			Describes: func(t nexusv1.SecretSpec) map[string]bool {
				return map[string]bool{"valueFrom": t.ValueFrom != nil, "generate": t.Generate != nil, "placeholder": t.Placeholder != nil,
					"recreateOnLoss": t.RecreateOnLoss}
			},
		}.Entries(),
	}
}

// secretHint says how a capability gets a secret that others have by default.
func secretHint(s *nexusv1.NexusAICapabilitySpec, purpose string) string {
	if hasDefaultSecrets(s) || !isDefaultSecret(purpose) {
		return ""
	}
	return fmt.Sprintf("list %s in spec.secrets, or remove defaultSecrets: %s", purpose, s.DefaultSecrets)
}

func nameOfSecret(s nexusv1.SecretSpec) string { return s.Name }

// secretValues returns the settings with the names of the existing secrets, and with the prefix of all others, unless there are none.
func secretValues(k *part.Compiler) (out []part.Value) {
	for _, s := range part.Keep(k.Access, ofSecrets, k.Spec.Secrets, nameOfSecret) {
		if e := existingSecret(s); e.Store != nil {
			out = append(out, part.Value{Parameter: "secrets/" + s.Name + "-secret", Variable: "NEXUS_SECRET_" + part.EnvironmentVariable(s.Name),
				Text: e.NameIn()})
		}
	}
	if len(secretsOf(k.Spec)) > 0 {
		out = append(out, part.Value{Variable: "NEXUS_SECRETS_PREFIX", Text: k.Names.SecretPath()})
	}
	return out
}

// defaultSecrets are the secrets of a capability that does not leave them out. Values that another company issues are placeholders for
// people to fill in. All other values are generated.
var defaultSecrets = []nexusv1.SecretSpec{
	{Name: "anthropic", Placeholder: placeholder("apiKey")},
	{Name: "api-keys", Generate: generate("apiKey", "internalApiKey")},
	{Name: "github", Placeholder: placeholder("token"), Generate: generate("webhookSecret")},
	{Name: "license", Generate: generate("licenseKey", "signingKey")},
	{Name: "openai", Placeholder: placeholder("apiKey")},
	{Name: "wxcc", Placeholder: placeholder("clientId", "clientSecret", "refreshToken"), Generate: generate("webhookSecret")},
}

const defaultSecretLength = 40

func placeholder(keys ...nexusv1.SecretKey) *nexusv1.PlaceholderSpec {
	return &nexusv1.PlaceholderSpec{Keys: keys}
}

func generate(keys ...nexusv1.SecretKey) *nexusv1.GenerateSpec {
	return &nexusv1.GenerateSpec{Keys: keys}
}

func isDefaultSecret(name string) bool {
	return slices.ContainsFunc(defaultSecrets, func(s nexusv1.SecretSpec) bool { return s.Name == name })
}

// secretsOf returns the wanted secrets by name: the default ones, each with its default source unless
// another is given, and the additional ones. Without the default secrets, those that are listed keep their default sources.
func secretsOf(s *nexusv1.NexusAICapabilitySpec) []nexusv1.SecretSpec {
	out := slices.Clone(defaultSecrets)
	if !hasDefaultSecrets(s) {
		out = slices.DeleteFunc(out, func(d nexusv1.SecretSpec) bool {
			return !slices.ContainsFunc(s.Secrets, func(given nexusv1.SecretSpec) bool { return given.Name == d.Name })
		})
	}
	for _, given := range s.Secrets {
		i := slices.IndexFunc(out, func(d nexusv1.SecretSpec) bool { return d.Name == given.Name })
		switch {
		case i < 0:
			out = append(out, given)
		case hasSource(given):
			out[i] = given
		default:
			out[i].RecreateOnLoss = given.RecreateOnLoss
		}
	}
	return part.ByName(out, func(s nexusv1.SecretSpec) string { return s.Name })
}

// hasDefaultSecrets reports whether a capability has the default secrets that it does not list.
func hasDefaultSecrets(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.DefaultSecrets != nexusv1.DefaultSecretsNone
}

func hasSource(s nexusv1.SecretSpec) bool {
	return s.ValueFrom != nil || s.Generate != nil || s.Placeholder != nil || s.Existing != nil
}

func addSecrets(k *part.Compiler) {
	for _, s := range secretsOf(k.Spec) {
		if e := existingSecret(s); e.Store != nil {
			k.Observe(e, StepSecrets, "secrets", &awsv1.SecretsManagerSecret{Spec: awsv1.SecretsManagerSecretSpec{SecretName: e.NameIn()}})
			continue
		}
		o := &awsv1.SecretsManagerSecret{Spec: secretSpec(k, s)}
		k.AddGrant(k.Resource(part.Child{Kind: kindSecret, Name: k.Names.Of(s.Name), Step: StepSecrets, Component: "secrets"}, o,
			k.AfterKey("")...))
	}
}

func secretSpec(k *part.Compiler, s nexusv1.SecretSpec) awsv1.SecretsManagerSecretSpec {
	out := awsv1.SecretsManagerSecretSpec{
		SecretName:     k.Names.Secret(s.Name),
		Description:    new("Secret " + s.Name + " of " + k.Names.Prefix()),
		KmsKeyId:       new(k.StoreKey("")),
		RecreateOnLoss: s.RecreateOnLoss,
	}
	if v := s.ValueFrom; v != nil {
		out.SecretStringRef = &awsv1.SecretKeyReference{Name: v.Name, Key: v.Key}
	}
	if g := s.Generate; g != nil {
		out.Generate = &awsv1.SecretGenerate{Length: defaultSecretLength, Keys: keyNames(g.Keys)}
		if g.Length != nil {
			out.Generate.Length = *g.Length
		}
	}
	if p := s.Placeholder; p != nil {
		// The whole JSON object stands here: the generated keys in it are overwritten by their values.
		out.Placeholder = map[string]awsv1.PlaceholderValue{}
		for _, key := range p.Keys {
			out.Placeholder[string(key)] = ""
		}
		if out.Generate != nil {
			for _, key := range out.Generate.Keys {
				out.Placeholder[key] = ""
			}
		}
	}
	return out
}

func keyNames(keys []nexusv1.SecretKey) []string {
	var out []string
	for _, k := range keys {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}

func existingSecret(s nexusv1.SecretSpec) part.Existing {
	return part.Existing{Kind: kindSecret, Of: &existingSecrets, Purpose: s.Name, Store: s.Existing}
}

// secretEnding is the number of characters that Secrets Manager chooses for the end of an ARN.
const secretEnding = 6

// secretStatements name the secrets by their whole ARNs, including the last six characters, which AWS chooses.
func secretStatements(k *part.Compiler) []iampolicy.Statement {
	var arns []string
	for _, s := range part.Keep(k.Access, ofSecrets, secretsOf(k.Spec), func(s nexusv1.SecretSpec) string { return s.Name }) {
		if e := existingSecret(s); e.Store != nil {
			arns = part.AppendARN(arns, k.External(e))
			continue
		}
		id, begin := kindSecret+"/"+k.Names.Of(s.Name), k.Home.ARN("secretsmanager", "secret:"+k.Names.Secret(s.Name)+"-")
		arns = part.AppendARN(arns, k.Assigned(id, begin, secretEnding))
	}
	if len(arns) == 0 {
		return nil
	}
	return []iampolicy.Statement{{Sid: "Secrets", Action: []string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"},
		Resource: arns}}
}

func checkSecrets(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	for i, s := range s.Secrets {
		at := fmt.Sprintf("spec.secrets[%d]", i)
		v.Require(hasSource(s) || isDefaultSecret(s.Name), at, "an additional secret needs valueFrom, generate, placeholder or existing")
		v.Require(s.ValueFrom == nil || s.Generate == nil && s.Placeholder == nil, at, "set valueFrom, or generate and placeholder, not both")
		checkSources(v, at, s)
	}
}

func checkSources(v *part.Verdict, at string, s nexusv1.SecretSpec) {
	var keys []nexusv1.SecretKey
	if g := s.Generate; g != nil {
		v.Require(s.Placeholder == nil || len(g.Keys) > 0, at+".generate.keys", "are needed beside placeholder")
		keys = append(keys, g.Keys...)
	}
	if p := s.Placeholder; p != nil {
		keys = append(keys, p.Keys...)
	}
	v.Require(len(keys) <= 32, at, "at most 32 keys")
	seen := map[nexusv1.SecretKey]bool{}
	for _, k := range keys {
		v.Require(!seen[k], at, "the key %q is there twice", k)
		seen[k] = true
	}
}
