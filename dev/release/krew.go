// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"sigs.k8s.io/yaml"
)

// krewFile is the manifest of the kubectl plugin, named after it as krew demands.
const krewFile = "nexus.yaml"

// krewPlugin is a manifest of krew: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
type krewPlugin struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       krewSpec       `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

// addKrew adds the manifest with which krew installs nexusctl as kubectl nexus.
func (r *release) addKrew(context.Context, string) error {
	plugin := krewPlugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin",
		Metadata: map[string]any{"name": "nexus"},
		Spec: krewSpec{Version: "v" + r.version, Homepage: "https://github.com/nexus-operator/nexus-operator",
			ShortDescription: "Plan, check and operate AI capabilities on AWS",
			Description: "Plans what the Nexus Operator would do in Kubernetes and AWS, explains why a capability is not ready,\n" +
				"watches and verifies it, imports AWS resources, and installs the operator.\n"}}
	for _, p := range r.platforms {
		sum := sha256.Sum256(r.files[r.archiveName(p)])
		of := krewPlatform{URI: r.address(r.archiveName(p)), SHA256: hex.EncodeToString(sum[:]), Bin: p.programName()}
		of.Selector.MatchLabels = map[string]string{"os": p.system, "arch": p.arch}
		plugin.Spec.Platforms = append(plugin.Spec.Platforms, of)
	}
	text, err := yaml.Marshal(plugin)
	r.file(krewFile, text)
	return err
}

// address returns the URL from which krew downloads a file.
func (r *release) address(name string) string {
	return strings.ReplaceAll(r.url, "{version}", r.version) + "/" + name
}
