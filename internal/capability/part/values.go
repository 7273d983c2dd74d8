// SPDX-License-Identifier: Apache-2.0

package part

// AllValues are the values of all parts.
func (k *Compiler) AllValues() (out []Value) {
	for _, p := range k.Parts {
		if p.Values != nil {
			out = append(out, p.Values(k)...)
		}
	}
	return out
}

// ValuesOf makes values of texts by the ends of their names.
func ValuesOf(parameters, variables string, texts map[string]string) (out []Value) {
	for _, name := range SortedKeys(texts) {
		out = append(out, Value{parameters + name, variables + EnvironmentVariable(name), texts[name]})
	}
	return out
}

// Settings is the configuration of the workloads: names and places, never secret values.
func (k *Compiler) Settings() map[string]string {
	v := map[string]string{
		"NEXUS_CAPABILITY": k.Names.Capability, "NEXUS_ENVIRONMENT": k.Names.Environment, "NEXUS_VERSION": k.Spec.Version,
		"NEXUS_REGION": k.Home.Region, "AWS_REGION": k.Home.Region,
		"NEXUS_SSM_PREFIX": k.Names.ParameterPath(),
	}
	for _, found := range k.AllValues() {
		if found.Variable != "" {
			v[found.Variable] = found.Text
		}
	}
	return v
}
