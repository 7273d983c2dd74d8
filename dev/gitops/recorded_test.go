// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// recordings are objects that runs of the operator left in the API server.
const recordings = "../../test/upgrade/testdata/*/*.yaml"

// The binding was recorded while its intents did not exist.
func TestHealth_RecordedObjects(t *testing.T) {
	files, err := filepath.Glob(recordings)
	if err != nil || len(files) < 16 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range files {
		want, name := "Healthy", filepath.Base(file)
		if name == "clustersecurityintentbinding.yaml" {
			want = "Progressing"
		}
		text, err := yaml.YAMLToJSON([]byte(read(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		got := judge(t, read(t, scriptFile), object)
		flux, err := status.Compute(object)
		if err != nil || got.Status != want || healthOf[flux.Status] != want || strings.TrimSpace(got.Message) == "" {
			t.Errorf("%s: Argo CD %+v, kstatus %+v, %v; want %s", name, got, flux, err, want)
		}
	}
}
