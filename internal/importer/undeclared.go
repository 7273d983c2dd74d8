// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Export is an export with the answers of AWS that it read.
type Export struct {
	engine.Exported
	notSettings []string
	said        map[string]bool
	recording   *answers.Recording
	read        func(ctx context.Context) answers.Result
}

// ExportOf declares the resource that obj identifies as it is. The binding is of an instrumented configuration; see
// answers.Instrument.
func ExportOf(ctx context.Context, e engine.Entry, b engine.Binding, sc kind.Scope, obj v1alpha1.Resource) (Export, error) {
	identified := obj.DeepCopyObject().(v1alpha1.Resource)
	out := Export{notSettings: e.Meta().Facts.NotSettings, recording: &answers.Recording{}}
	out.read = func(ctx context.Context) answers.Result {
		return resultOf(ctx, e.Name(), b, sc, identified.DeepCopyObject().(v1alpha1.Resource))
	}
	var err error
	if out.Exported, err = b.Export(out.recording.Record(ctx), sc, obj); err == nil && out.Exists {
		out.said = saidBy(out.Exported, e.ExportIdentity(), sc)
	}
	return out, err
}

// NotDeclared names the settings that AWS answered with and that no field of the object says.
func (x Export) NotDeclared(ctx context.Context) ([]string, error) {
	unread, err := x.recording.Unread(ctx, x.read)
	if err != nil {
		return nil, fmt.Errorf("comparing the manifest with the answers of AWS: %w", err)
	}
	return settingsIn(x.notSettings, unread, x.said), nil
}

// NotDeclarable names the settings that AWS did not answer with, and that no field of the object would say, without the names of
// elements. It is for tests.
func (x Export) NotDeclarable(ctx context.Context) []string {
	out := settingsIn(x.notSettings, x.recording.UnreadIfFilled(ctx, x.read), x.said)
	for i, path := range out {
		out[i] = elements.ReplaceAllString(path, "[]")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unfounded returns the entries of the kind's Facts.NotSettings that are no members of the answers. It is for tests.
func (x Export) Unfounded() []string {
	return slices.DeleteFunc(slices.Clone(x.notSettings), func(entry string) bool {
		path, _, _ := strings.Cut(entry, "=")
		return !x.recording.LacksMember(path)
	})
}

// onlyShown names, by kind, the field of the status that shows settings which no field of the spec says.
var onlyShown = map[string]string{"DynamoDBTable": "replicas"}

// resultOf returns everything that an export finds, without the settings that a status only shows.
func resultOf(ctx context.Context, kindName string, b engine.Binding, sc kind.Scope, obj v1alpha1.Resource) answers.Result {
	found, err := b.Export(ctx, sc, obj)
	if err != nil || !found.Exists {
		return answers.Failed(fmt.Sprint(err))
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(found.Published)
	if err != nil {
		return answers.Failed(err.Error())
	}
	out := answers.Result{"busy": found.Busy, "created": found.Created.Format(time.RFC3339Nano)}
	if shown, ok := content["status"].(map[string]any); ok {
		delete(shown, onlyShown[kindName])
	}
	flatten(out, "spec", content["spec"])
	flatten(out, "status", content["status"])
	for k, v := range found.Tags {
		out["tags/"+k] = v
	}
	return out
}

// flatten adds the values without members to a result, by their paths.
func flatten(out answers.Result, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k := range maps.Keys(v) {
			flatten(out, path+"."+k, v[k])
		}
	case []any:
		for i := range v {
			flatten(out, fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		out[path] = string(text)
	}
}
