// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// object is a Kubernetes object.
type object map[string]any

func (o object) kind() string { k, _ := o["kind"].(string); return k }

func (o object) metadata(field string) string {
	metadata, _ := o["metadata"].(map[string]any)
	value, _ := metadata[field].(string)
	return value
}

// id is unique among the objects of a cluster.
func (o object) id() string {
	version, _ := o["apiVersion"].(string)
	return strings.Join([]string{version, o.kind(), o.metadata("namespace"), o.metadata("name")}, "/")
}

// installOrder lists the kinds that others need; all other kinds follow them.
var installOrder = []string{"Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role",
	"RoleBinding",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}

func rank(o object) int {
	if i := slices.Index(installOrder, o.kind()); i >= 0 {
		return i
	}
	return len(installOrder)
}

// render returns the objects of a chart as Helm would install them in a namespace, those that others need first. Later
// files of values win.
func render(ctx context.Context, dir, namespace string, valuesFiles ...string) ([]object, error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, file := range valuesFiles {
		more, err := common.ReadValuesFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		values = loader.MergeMaps(values, more)
	}
	release := common.ReleaseOptions{Name: "nexus-operator", Namespace: namespace, Revision: 1, IsInstall: true}
	input, err := util.ToRenderValues(chart, values, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.RenderWithContext(ctx, chart, input)
	if err != nil {
		return nil, err
	}
	var objects []object
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".yaml" {
			continue
		}
		found, err := decode([]byte(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, found...)
	}
	slices.SortStableFunc(objects, func(a, b object) int {
		if byRank := rank(a) - rank(b); byRank != 0 {
			return byRank
		}
		return strings.Compare(a.id(), b.id())
	})
	return objects, nil
}

// decode reads the objects of a file; documents without any are skipped.
func decode(text []byte) ([]object, error) {
	var objects []object
	for document := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---\n")) {
		o := object{}
		if err := yaml.UnmarshalStrict(document, &o); err != nil {
			return nil, err
		}
		if len(o) > 0 {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

func encode(objects []object) ([]byte, error) {
	var text bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		document, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		text.Write(document)
	}
	return text.Bytes(), nil
}

func readObjects(file string) ([]object, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return decode(text)
}
