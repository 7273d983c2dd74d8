// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

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

func (k *compiler) secrets() {
	for _, s := range secretsOf(k.spec) {
		if e := existingSecret(s); e.store != nil {
			k.observe(e, StepSecrets, "secrets", &awsv1.SecretsManagerSecret{Spec: awsv1.SecretsManagerSecretSpec{SecretName: e.nameIn()}})
			continue
		}
		o := &awsv1.SecretsManagerSecret{Spec: k.secret(s)}
		k.addGrant(k.resource(part{kindSecret, k.names.Of(s.Name), StepSecrets, "secrets"}, o, k.afterKey("")...))
	}
}

// secretSettings tell the workloads the prefix of the secrets, unless there are none, and the names of those that exist already.
func (k *compiler) secretSettings() map[string]string {
	out := k.existingSecrets(func(purpose string) string { return "NEXUS_SECRET_" + environmentVariable(purpose) })
	if len(secretsOf(k.spec)) > 0 {
		out["NEXUS_SECRETS_PREFIX"] = k.names.SecretPath()
	}
	return out
}

func (k *compiler) secret(s nexusv1.SecretSpec) awsv1.SecretsManagerSecretSpec {
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
