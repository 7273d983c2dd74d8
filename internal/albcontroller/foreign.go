// SPDX-License-Identifier: Apache-2.0

package albcontroller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
)

// The annotations of Helm on the objects of a release.
const (
	annotationRelease          = "meta.helm.sh/release-name"
	annotationReleaseNamespace = "meta.helm.sh/release-namespace"
)

// foreignController is a load balancer controller that another tool installed.
type foreignController struct {
	by, seen string
	healthy  bool
}

// judge returns an error if the controller is not healthy.
func (f *foreignController) judge() error {
	if f.healthy {
		return nil
	}
	return &exit.Failure{Code: exit.CodeFailed, Err: errors.New(f.seen +
		"; repair it with the tool that installed it: nexusctl leaves it alone")}
}

// findForeignController looks for a controller that is not ours; nil when there is none. have is a release of its name.
func findForeignController(ctx context.Context, c client.Client, have *helmrelease.Release) (*foreignController, error) {
	classes := &networkingv1.IngressClassList{}
	if err := c.List(ctx, classes); err != nil {
		return nil, err
	}
	class := ""
	for _, i := range classes.Items {
		switch i.Spec.Controller {
		case AutoModeController:
			return &foreignController{by: "EKS Auto Mode",
				seen: "IngressClass " + i.Name + " is of EKS Auto Mode, which runs the controller outside the cluster", healthy: true}, nil
		case IngressController:
			class = i.Name
		}
	}
	d, err := findControllerDeployment(ctx, c)
	if err != nil {
		return nil, err
	}
	switch {
	case d != nil:
		title := "Deployment " + d.Namespace + "/" + d.Name
		return &foreignController{by: installerOf(d), seen: fmt.Sprintf("%s has %d ready pods", title, d.Status.ReadyReplicas),
			healthy: d.Status.ReadyReplicas > 0}, nil
	case have != nil:
		return &foreignController{by: "Helm, as release " + Namespace + "/" + Release,
			seen: fmt.Sprintf("release %s/%s is %s, and no Deployment of it was found", Namespace, Release, have.Status)}, nil
	case class != "":
		return &foreignController{by: "another tool",
			seen: "IngressClass " + class + " is of the controller, and no Deployment of it was found"}, nil
	default:
		return nil, nil
	}
}

// findControllerDeployment finds the Deployment of a controller, by its label or its name; nil when there is none.
func findControllerDeployment(ctx context.Context, c client.Client) (*appsv1.Deployment, error) {
	labeled := &appsv1.DeploymentList{}
	if err := c.List(ctx, labeled, client.MatchingLabels{"app.kubernetes.io/name": Release}); err != nil {
		return nil, err
	}
	if len(labeled.Items) > 0 {
		return &labeled.Items[0], nil
	}
	named := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Release}, named); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return named, nil
}

// installerOf names the tool that installed a Deployment.
func installerOf(d *appsv1.Deployment) string {
	if release := d.Annotations[annotationRelease]; release != "" {
		return "Helm, as release " + d.Annotations[annotationReleaseNamespace] + "/" + release
	}
	return "another tool"
}
