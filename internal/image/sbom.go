// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// The part of SPDX 2.3 that is used: https://spdx.github.io/spdx-spec/v2.3/
type (
	spdxDocument struct {
		SPDXVersion       string             `json:"spdxVersion"`
		DataLicense       string             `json:"dataLicense"`
		SPDXID            string             `json:"SPDXID"`
		Name              string             `json:"name"`
		DocumentNamespace string             `json:"documentNamespace"`
		CreationInfo      spdxCreation       `json:"creationInfo"`
		Packages          []spdxPackage      `json:"packages"`
		Relationships     []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		SPDXID           string         `json:"SPDXID"`
		Name             string         `json:"name"`
		VersionInfo      string         `json:"versionInfo"`
		DownloadLocation string         `json:"downloadLocation"`
		FilesAnalyzed    bool           `json:"filesAnalyzed"`
		SourceInfo       string         `json:"sourceInfo,omitempty"`
		Checksums        []spdxChecksum `json:"checksums,omitempty"`
		ExternalRefs     []spdxRef      `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

// unknown is SPDX's word for what the document does not state.
const unknown = "NOASSERTION"

// certificatesModule is the module that the certificates in the image are from.
const certificatesModule = "golang.org/x/crypto/x509roots/fallback"

// imageBill describes an image by its binary and the certificates beside it.
func imageBill(files []file, release, arch string) ([]byte, error) {
	i := slices.IndexFunc(files, func(f file) bool { return f.path == binaryPath })
	return billOfMaterials(files[i].data, "nexus-operator-"+release+"-linux-"+arch, release, certificatesFrom()...)
}

// BillOfMaterials describes a binary by the build information that Go wrote into it, as SPDX JSON. The name is that of the
// document.
func BillOfMaterials(binary []byte, name, release string) ([]byte, error) {
	return billOfMaterials(binary, name, release)
}

func billOfMaterials(binary []byte, name, release string, beside ...*debug.Module) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("reading the build information: %w", err)
	}
	sum := sha256.Sum256(binary)
	const program = "SPDXRef-program"
	document := spdxDocument{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
		Name:              name,
		DocumentNamespace: "urn:sha256:" + hex.EncodeToString(sum[:]),
		CreationInfo:      spdxCreation{Created: "1970-01-01T00:00:00Z", Creators: []string{"Tool: nexus-operator/internal/image"}},
		Packages: []spdxPackage{{SPDXID: program, Name: info.Main.Path, VersionInfo: release, DownloadLocation: unknown,
			Checksums: []spdxChecksum{{"SHA256", hex.EncodeToString(sum[:])}}}},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", program}},
	}
	modules := append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")}}, info.Deps...)
	for _, m := range append(modules, beside...) {
		p := packageOf(m)
		document.Packages = append(document.Packages, p)
		document.Relationships = append(document.Relationships, spdxRelationship{program, "DEPENDS_ON", p.SPDXID})
	}
	text, err := json.MarshalIndent(document, "", "  ")
	return append(text, '\n'), err
}

// certificatesFrom returns the module of the certificates, as this program was built with it.
func certificatesFrom() []*debug.Module {
	own, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(own.Deps), func(m *debug.Module) bool { return m.Path != certificatesModule })
}

func packageOf(m *debug.Module) spdxPackage {
	if m.Replace != nil {
		m = m.Replace
	}
	p := spdxPackage{
		SPDXID: "SPDXRef-" + idOf(m.Path+"-"+m.Version), Name: m.Path, VersionInfo: m.Version, DownloadLocation: unknown,
		ExternalRefs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}},
	}
	if m.Sum != "" {
		p.SourceInfo = "go.sum " + m.Sum
	}
	return p
}

// idOf replaces what an SPDX identifier must not hold.
func idOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, text)
}
