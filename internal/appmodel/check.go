// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

var (
	environmentPattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
	versionPattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	regionPattern      = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)
	hostPattern        = regexp.MustCompile(`^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	pathPattern        = regexp.MustCompile(`^/[!-~]*$`)
	objectPattern      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	modelPattern       = regexp.MustCompile(`^[a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*$`)
	geographyPattern   = regexp.MustCompile(`^(us|us-gov|eu|apac|global|jp|au|ca|sa|me|af|in|kr)[.]`)
)

// CheckName checks the first part of every derived name.
func CheckName(name, environment string) error {
	switch {
	case !labelPattern.MatchString(name):
		return fmt.Errorf("%q: write small letters, digits and hyphens, with a letter first", name)
	case len(name) > 40 || len(name)+len(environment) > maxNames:
		return fmt.Errorf("%q is too long: name and environment together have at most %d characters, and the name at most 40", name, maxNames)
	}
	for _, prefix := range []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"} {
		if strings.HasPrefix(name, prefix) {
			return fmt.Errorf("%q begins with %s, which AWS reserves", name, prefix)
		}
	}
	if strings.HasPrefix(name+"-", "kube-") {
		return fmt.Errorf("%q begins with kube, which Kubernetes reserves", name)
	}
	return nil
}

// CheckEnvironment checks the second part of every derived name.
func CheckEnvironment(text string) error {
	return matching(environmentPattern, text, "write at most 16 small letters and digits, with a letter first")
}

// CheckVersion checks the version of an application.
func CheckVersion(text string) error {
	return matching(versionPattern, text, "write letters, digits, points and hyphens, at most 63")
}

// CheckRegion checks the shape of an AWS region; empty leaves it to the operator.
func CheckRegion(text string) error {
	if text == "" {
		return nil
	}
	return matching(regionPattern, text, "write a region of AWS, such as ap-southeast-1")
}

// CheckHost checks a host name; empty means none.
func CheckHost(text string) error {
	if text == "" {
		return nil
	}
	if len(text) > 253 {
		return fmt.Errorf("%q is too long for a host name", text)
	}
	return matching(hostPattern, text, "write a host name, such as app.example.com")
}

// CheckPath checks the path of a request.
func CheckPath(text string) error {
	if len(text) > 1024 {
		return fmt.Errorf("the path has more than 1024 characters")
	}
	return matching(pathPattern, text, "write a path that begins with /")
}

// routeForm is that of paths that lead to components.
var routeForm = regexp.MustCompile(`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`)

// CheckRoute checks a path that leads to a component.
func CheckRoute(path string) error {
	if len(path) > 128 {
		return errors.New("the path has more than 128 characters")
	}
	return matching(routeForm, path, "write a path such as /api")
}

// AddRoute leads a path to a component, or returns why that cannot be.
func (a *App) AddRoute(c *Component, path string) error {
	if err := CheckRoute(path); err != nil {
		return err
	}
	for _, other := range a.Components {
		if slices.Contains(other.Routes, path) && other.Name != c.Name {
			return fmt.Errorf("%s leads to %s already", path, other.Name)
		}
	}
	if len(c.Routes) == 8 {
		return errors.New("at most 8 paths lead to a component")
	}
	if !slices.Contains(c.Routes, path) {
		c.Routes = append(c.Routes, path)
	}
	return nil
}

// CheckObjectName checks the name of a Kubernetes object or namespace.
func CheckObjectName(text string) error {
	if len(text) > 63 {
		return fmt.Errorf("%q has more than 63 characters", text)
	}
	return matching(objectPattern, text, "write small letters, digits and hyphens")
}

// CheckImage checks a reference to an image.
func CheckImage(text string) error {
	if text == "" || len(text) > 512 || strings.ContainsAny(text, " \t\r\n") {
		return fmt.Errorf("%q is no image: write registry/repository:tag", text)
	}
	if _, err := reference.ParseNormalizedNamed(text); err != nil {
		return fmt.Errorf("%q is no image: %w; write registry/repository:tag, in small letters", text, err)
	}
	return nil
}

// ReadPort reads the number of a port.
func ReadPort(text string) (int32, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("%q is no port: write a number from 1 to 65535", text)
	}
	return int32(n), nil //nolint:gosec // bounded above
}

// ReadReplicas reads a number of pods.
func ReadReplicas(text string) (int32, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1000 {
		return 0, fmt.Errorf("%q is no number of replicas: write a number from 0 to 1000", text)
	}
	return int32(n), nil //nolint:gosec // bounded above
}

// Purpose is a kind of stores with the length of their names.
type Purpose struct {
	// Word names the kind in messages.
	Word string
	most int
}

// The kinds of stores that are declared by name.
var (
	PurposeTable  = Purpose{Word: "table", most: 40}
	PurposeBucket = Purpose{Word: "bucket", most: 20}
	PurposeQueue  = Purpose{Word: "queue", most: 28}
	PurposeTopic  = Purpose{Word: "topic", most: 40}
	PurposeSecret = Purpose{Word: "secret", most: 40}
	PurposeModel  = Purpose{Word: "model", most: 40}
)

// maxStores bounds the stores of each kind: the role that may use all of them has a policy of bounded length.
const maxStores = 8

// CheckNames checks the names of the stores of one kind.
func (p Purpose) CheckNames(names []string) error {
	if len(names) > maxStores {
		return fmt.Errorf("%d names of a %s: write at most %d, and add others to the manifest", len(names), p.Word, maxStores)
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case !labelPattern.MatchString(name):
			return fmt.Errorf("%q is no name of a %s: write small letters, digits and hyphens, with a letter first", name, p.Word)
		case len(name) > p.most:
			return fmt.Errorf("%q is too long for a %s: at most %d characters", name, p.Word, p.most)
		case seen[name]:
			return fmt.Errorf("%q is named twice", name)
		case p == PurposeQueue && strings.HasSuffix(name, "-dlq"):
			return fmt.Errorf("%q ends in -dlq, which is kept for dead-letter queues", name)
		case p == PurposeBucket && hasReservedEnding(name):
			return fmt.Errorf("%q has an ending that S3 reserves", name)
		}
		seen[name] = true
	}
	return nil
}

func hasReservedEnding(name string) bool {
	return name == "s3alias" || strings.HasSuffix(name, "-s3alias") || strings.HasSuffix(name, "--ol-s3") ||
		strings.HasSuffix(name, "--x-s3") || strings.HasSuffix(name, "--table-s3")
}

// ReadModel reads NAME=MODEL. A model ID that begins with a geography, such as us., names an inference profile.
func ReadModel(text string) (Model, error) {
	name, id, found := strings.Cut(text, "=")
	if !found {
		name, id = "chat", text
	}
	if err := PurposeModel.CheckNames([]string{name}); err != nil {
		return Model{}, err
	}
	m := Model{Name: name, ID: id}
	if prefix := geographyPattern.FindString(id); prefix != "" && strings.Count(id, ".") > 1 {
		m.Profile, m.ID = id, strings.TrimPrefix(id, prefix)
	}
	if len(m.ID) > 140 || !modelPattern.MatchString(m.ID) {
		return Model{}, fmt.Errorf("%q is no model of Amazon Bedrock: write NAME=MODEL, such as chat=amazon.nova-lite-v1:0", text)
	}
	return m, nil
}

// ReadSecret reads NAME or NAME=KEY,KEY.
func ReadSecret(text string) (Secret, error) {
	name, list, found := strings.Cut(text, "=")
	if err := PurposeSecret.CheckNames([]string{name}); err != nil {
		return Secret{}, err
	}
	if !found {
		list = "value"
	}
	out := Secret{Name: name}
	seen := map[string]bool{}
	for key := range strings.SplitSeq(list, ",") {
		if key = strings.TrimSpace(key); !secretKeyPattern.MatchString(key) || seen[key] {
			return Secret{}, fmt.Errorf("%q has the key %q: write different keys of letters, digits, points, hyphens and underscores", text, key)
		}
		seen[key] = true
		out.Keys = append(out.Keys, nexusv1.SecretKey(key))
	}
	if len(out.Keys) > 32 {
		return Secret{}, fmt.Errorf("%q has more than 32 keys", text)
	}
	return out, nil
}

var secretKeyPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// ReadDeletionPolicy reads a deletion policy of AWS resources.
func ReadDeletionPolicy(text string) (nexusv1.DeletionPolicy, error) {
	for _, p := range []nexusv1.DeletionPolicy{nexusv1.DeletionDelete, nexusv1.DeletionRetain, nexusv1.DeletionOrphan} {
		if strings.EqualFold(text, string(p)) {
			return p, nil
		}
	}
	return "", fmt.Errorf("%q is none of Delete, Retain and Orphan", text)
}

func matching(p *regexp.Regexp, text, remedy string) error {
	if !p.MatchString(text) {
		return fmt.Errorf("%q: %s", text, remedy)
	}
	return nil
}
