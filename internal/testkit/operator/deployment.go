// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// FromDeployment runs the operator's binary as the Deployment says: its arguments, its variables, its ServiceAccount.
func FromDeployment(t testing.TB, w *world.World, d *appsv1.Deployment) *Operator {
	t.Helper()
	account := "system:serviceaccount:" + d.Namespace + ":" + d.Spec.Template.Spec.ServiceAccountName
	config, err := w.UserConfig(account, "system:serviceaccounts", "system:serviceaccounts:"+d.Namespace, "system:authenticated")
	if err != nil {
		t.Fatal(err)
	}
	container := d.Spec.Template.Spec.Containers[0]
	run := &Installed{Args: container.Args, Config: config}
	for _, e := range container.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			value = d.Namespace
		} else if e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.Resource == "limits.memory" {
			value = strconv.FormatInt(container.Resources.Limits.Memory().Value(), 10)
		} else if e.ValueFrom != nil {
			t.Fatalf("variable %s has a source that this test does not know", e.Name)
		}
		run.Env = append(run.Env, e.Name+"="+value)
	}
	return Start(t, w, Options{Installed: run})
}
