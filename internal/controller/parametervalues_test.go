// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestDeploymentsWaitForNewParametersAndNotForValues(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("values")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "first"}}}}
	set := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "values", Name: "values-dev"}}
	backend := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "values-dev", Name: "values-dev-backend"}}
	image := func() (string, error) {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(backend), backend); err != nil {
			return "", err
		}
		return backend.Spec.Template.Spec.Containers[0].Image, nil
	}
	edit := func(change func(*nexusv1.NexusAICapabilitySpec)) {
		t.Helper()
		h.eventually("an edit", func() error {
			if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
				return err
			}
			change(&c.Spec)
			return h.c.Update(h.ctx(), c)
		})
	}
	block := func() func() { return h.w.AWS().Fault(emulator.At("ssm.PutParameter(*)"), emulator.Throttle()).Remove }

	// At first no parameter exists.
	unblock := block()
	h.create(c)
	h.shows(set, status.Reconciling, "True", status.ReasonThrottled)
	if _, err := image(); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment is there before its parameters are: %v", err)
	}
	unblock()
	h.shows(c, status.Ready, "True", status.ReasonReady)

	// A value changes.
	unblock = block()
	edit(func(s *nexusv1.NexusAICapabilitySpec) { s.Version, s.Backend.Image = "2", "back:2" })
	h.eventually("the new image", func() error {
		if got, err := image(); err != nil || got != "back:2" {
			return fmt.Errorf("%s (%v)", got, err)
		}
		return nil
	})
	h.shows(set, status.Ready, "False", status.ReasonThrottled)
	unblock()
	h.shows(c, status.Ready, "True", status.ReasonReady)

	// A name is new: the stores are ready, and the parameter that names the new one does not exist.
	unblock = block()
	edit(func(s *nexusv1.NexusAICapabilitySpec) {
		s.DataServices.S3.Buckets = append(s.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: "extra"})
		s.Backend.Image = "back:3"
	})
	h.shows(set, status.Ready, "False", status.ReasonThrottled)
	h.shows(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "values", Name: "values-dev-extra"}}, status.Ready, "True",
		status.ReasonReady)
	if got, err := image(); err != nil || got != "back:2" {
		t.Errorf("the Deployment has the image %s (%v) before the new parameter exists", got, err)
	}
	unblock()
	h.shows(c, status.Ready, "True", status.ReasonReady)
	if got, err := image(); err != nil || got != "back:3" {
		t.Errorf("the image is %s (%v)", got, err)
	}
	h.remove(c)
	if s := h.left(); s != "" {
		t.Errorf("left over: %s", s)
	}
}
