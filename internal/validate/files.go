// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// CheckFiles returns the mistakes that show in files without a cluster, before the cluster is asked for anything: a file that does not
// exist, or that is no YAML. Standard input can be read only once, and a URL need not be read twice.
func CheckFiles(s *connection.Connection, files *resource.FilenameOptions) error {
	local := *files
	local.Filenames = slices.DeleteFunc(slices.Clone(files.Filenames), func(name string) bool {
		return name == "-" || strings.Contains(name, "://")
	})
	if len(local.Filenames) == 0 && local.Kustomize == "" {
		return nil
	}
	text, err := textMistakes(&local, nil)
	if err != nil {
		return exit.Usage("%w", err)
	}
	mistakes := text.mistakes
	var wrong []string
	for _, path := range slices.Sorted(maps.Keys(mistakes)) {
		wrong = append(wrong, path+": "+strings.Join(mistakes[path], "; "))
	}
	if len(wrong) > 0 {
		return exit.Usage("%s", strings.Join(wrong, "; "))
	}
	return checkKinds(s, &local)
}

// checkKinds returns the mistakes in the kinds of the objects in files.
func checkKinds(s *connection.Connection, files *resource.FilenameOptions) error {
	objects, err := s.Objects(resource.NewLocalBuilder().Unstructured().Local().FilenameParam(false, files).Flatten())
	if err != nil {
		return err
	}
	var wrong []string
	for _, u := range objects {
		mistake, err := kindMistake(s, u)
		if err != nil {
			return err
		}
		if mistake != "" {
			wrong = append(wrong, console.TitleOf(u)+": "+mistake)
		}
	}
	if len(wrong) > 0 {
		return exit.Usage("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// kindMistake says which kind or version of ours is meant by one that does not exist; empty for one that may exist in a cluster.
func kindMistake(s *connection.Connection, u *unstructured.Unstructured) (string, error) {
	scheme, err := connection.OwnTypes()
	if err != nil || scheme.Recognizes(u.GroupVersionKind()) {
		return "", err
	}
	if !isOurGroup(u.GroupVersionKind().Group) {
		return strings.Join(foreignProblems(scheme, u), "; "), nil
	}
	schemas, err := crdschema.Load(s.CRDs)
	if err != nil {
		return "", err
	}
	if schemas.Closest(u.GetKind()) == "" && meantVersion(scheme, u.GetKind()) == "" {
		return "", nil // an operator that is newer may have it
	}
	return unknownKind(scheme, schemas, u), nil
}
