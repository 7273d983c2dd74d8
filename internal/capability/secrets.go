// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Names of the secrets: of their kind, step, access and purposes.
const (
	kindSecret       = "SecretsManagerSecret"
	StepSecrets      = "Secrets"
	ofSecrets        = "secrets"
	maxSecretPurpose = 40
)

// secretNames fits the names of secrets in Secrets Manager.
var secretNames = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]+$`)

// existingSecrets describes the ARNs of secrets that exist already.
var existingSecrets = existingKind{noun: "secret", service: "secretsmanager", prefix: "secret:", names: secretNames, most: 512, ending: secretEnding}

// secretsPart is spec.secrets.
func secretsPart() part {
	return part{
		steps: []Step{{5, StepSecrets, nexusv1.PhaseProvisioningSecrets, nexusv1.ConditionSecretsReady}},
		kinds: []kindFacts{{
			kind: kindSecret, step: StepSecrets, removed: removal{stage: removesData + 10, steps: []string{StepSecrets}}, grants: true, isSecret: true, isBilled: true,
			refusal:  "is declared in spec.secrets",
			existing: &existingSecrets,
		}},
		checks:  []turn[checking]{at(80, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkSecrets(v, &c.Spec) })},
		compile: []func(*compiler){addSecrets},
		rights:  []turn[granting]{at(50, secretStatements)},
		values:  secretValues,
		entries: stores[nexusv1.SecretSpec]{
			place: 100, field: ofSecrets, encryptedBy: "secretsmanager", at: "spec.secrets", of: existingSecret,
			declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.SecretSpec { return s.Secrets },
			selected: secretsOf, hint: secretHint,
			describes: func(t nexusv1.SecretSpec) map[string]bool {
				return map[string]bool{"valueFrom": t.ValueFrom != nil, "generate": t.Generate != nil, "placeholder": t.Placeholder != nil, "recreateOnLoss": t.RecreateOnLoss}
			},
		}.entries(),
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

// secretValues tell the application the names of the existing secrets, and the prefix of all others, unless there are none.
func secretValues(k *compiler) (out []value) {
	for _, s := range keep(k.access, ofSecrets, k.spec.Secrets, nameOfSecret) {
		if e := existingSecret(s); e.store != nil {
			out = append(out, value{"secrets/" + s.Name + "-secret", "NEXUS_SECRET_" + environmentVariable(s.Name), e.nameIn()})
		}
	}
	if len(secretsOf(k.spec)) > 0 {
		out = append(out, value{variable: "NEXUS_SECRETS_PREFIX", text: k.names.SecretPath()})
	}
	return out
}

// defaultSecrets are the secrets of a capability that does not leave them out. Values that nobody else needs to know are generated;
// what another company issues is a placeholder for people to fill in.
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
	return byName(out, func(s nexusv1.SecretSpec) string { return s.Name })
}

// hasDefaultSecrets reports whether a capability has the default secrets that it does not list.
func hasDefaultSecrets(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.DefaultSecrets != nexusv1.DefaultSecretsNone
}

func hasSource(s nexusv1.SecretSpec) bool {
	return s.ValueFrom != nil || s.Generate != nil || s.Placeholder != nil || s.Existing != nil
}

func addSecrets(k *compiler) {
	for _, s := range secretsOf(k.spec) {
		if e := existingSecret(s); e.store != nil {
			k.observe(e, StepSecrets, "secrets", &awsv1.SecretsManagerSecret{Spec: awsv1.SecretsManagerSecretSpec{SecretName: e.nameIn()}})
			continue
		}
		o := &awsv1.SecretsManagerSecret{Spec: secretSpec(k, s)}
		k.addGrant(k.resource(child{kindSecret, k.names.Of(s.Name), StepSecrets, "secrets"}, o, k.afterKey("")...))
	}
}

func secretSpec(k *compiler, s nexusv1.SecretSpec) awsv1.SecretsManagerSecretSpec {
	out := awsv1.SecretsManagerSecretSpec{
		SecretName:     k.names.Secret(s.Name),
		Description:    new("Secret " + s.Name + " of " + k.names.Prefix()),
		KmsKeyId:       new(k.storeKey("")),
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

func existingSecret(s nexusv1.SecretSpec) existing {
	return existing{kind: kindSecret, of: &existingSecrets, purpose: s.Name, store: s.Existing}
}

// secretEnding is the number of characters that Secrets Manager chooses for the end of an ARN.
const secretEnding = 6

// secretStatements name the secrets by their whole ARNs, of which AWS chooses the last six characters.
func secretStatements(k *compiler) []iampolicy.Statement {
	var arns []string
	for _, s := range keep(k.access, ofSecrets, secretsOf(k.spec), func(s nexusv1.SecretSpec) string { return s.Name }) {
		if e := existingSecret(s); e.store != nil {
			arns = appendARN(arns, k.external(e))
			continue
		}
		id, begin := kindSecret+"/"+k.names.Of(s.Name), k.home.arn("secretsmanager", "secret:"+k.names.Secret(s.Name)+"-")
		arns = appendARN(arns, k.assigned(id, begin, secretEnding))
	}
	if len(arns) == 0 {
		return nil
	}
	return []iampolicy.Statement{{Sid: "Secrets", Action: []string{"secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"}, Resource: arns}}
}

func checkSecrets(v *verdict, s *nexusv1.NexusAICapabilitySpec) {
	if s.DefaultSecrets != "" {
		oneOf(v, "spec.defaultSecrets", s.DefaultSecrets, nexusv1.DefaultSecretsAll, nexusv1.DefaultSecretsNone)
	}
	list := s.Secrets
	v.distinct("spec.secrets", namesIn(list, func(s nexusv1.SecretSpec) string { return s.Name }), maxSecretPurpose)
	for i, s := range list {
		at := fmt.Sprintf("spec.secrets[%d]", i)
		v.require(hasSource(s) || isDefaultSecret(s.Name), at, "an additional secret needs valueFrom, generate, placeholder or existing")
		v.require(s.ValueFrom == nil || s.Generate == nil && s.Placeholder == nil, at, "set valueFrom, or generate and placeholder, not both")
		if s.ValueFrom != nil {
			v.require(s.ValueFrom.Name != "" && s.ValueFrom.Key != "", at+".valueFrom", "needs name and key")
			v.matches(at+".valueFrom.name", s.ValueFrom.Name, 253, subdomainPattern)
		}
		checkSources(v, at, s)
	}
}

// secretKeyPattern fits a key of a secret.
var secretKeyPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func checkSources(v *verdict, at string, s nexusv1.SecretSpec) {
	var keys []nexusv1.SecretKey
	if g := s.Generate; g != nil {
		v.require(g.Length == nil || *g.Length >= 16 && *g.Length <= 1024, at+".generate.length", "16 to 1024")
		v.require(s.Placeholder == nil || len(g.Keys) > 0, at+".generate.keys", "are needed beside placeholder")
		keys = append(keys, g.Keys...)
	}
	if p := s.Placeholder; p != nil {
		v.require(len(p.Keys) > 0, at+".placeholder.keys", "at least one")
		keys = append(keys, p.Keys...)
	}
	v.require(len(keys) <= 32, at, "at most 32 keys")
	seen := map[nexusv1.SecretKey]bool{}
	for _, k := range keys {
		v.require(secretKeyPattern.MatchString(string(k)), at, "the key %q does not match %s", status.Truncate(string(k), 64), secretKeyPattern)
		v.require(!seen[k], at, "the key %q is there twice", k)
		seen[k] = true
	}
}

var secretARNEnding = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)

// SecretPath is the prefix of the secrets' names.
func (n Names) SecretPath() string { return n.Capability + "/" + n.Environment }

// Secret names the secret for a purpose.
func (n Names) Secret(purpose string) string { return n.SecretPath() + "/" + purpose }
