// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
)

func TestValidator_JudgesEachObjectOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	good := "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nmetadata: {name: good}\nspec: {bucketName: good-bucket, providerRef: {name: p}}\n"
	bad := "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nmetadata: {name: bad}\nspec: {bucketNam: x, providerRef: {name: p}}\n"
	if err := os.WriteFile(path, []byte(good+"---\n"+bad), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	v := &Validator{Connection: &connection.Connection{
		Console: &console.Console{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out},
			Getenv: func(string) string { return "" }, Clock: clock.RealClock{}},
		Product: connection.Product{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases},
		Cluster: genericclioptions.NewConfigFlags(true),
	}}
	v.Cluster.KubeConfig = new(os.DevNull)
	if err := v.Validate(t.Context(), &resource.FilenameOptions{Filenames: []string{path}}, "json"); err == nil {
		t.Error("an unknown field is accepted")
	}
	var found Validation
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	if found.Valid || len(found.Objects) != 2 || len(found.Objects[0].Problems) > 0 || len(found.Objects[1].Problems) == 0 {
		t.Errorf("%+v", found)
	}
}
