// SPDX-License-Identifier: Apache-2.0

package imagebuild

import (
	"context"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// clusterTimeout ends the look for the cluster that a new repository is marked with.
const clusterTimeout = 10 * time.Second

// pushTarget is the reference that an image is pushed to, with the way to its registry.
type pushTarget struct {
	*connection.Registries
	ref name.Tag
}

// lookAtRepository finds whether the repository has to be created first, in the caller's own registry in ECR.
func (t *pushTarget) lookAtRepository(ctx context.Context, report *Report) ([]install.Change, error) {
	none := []install.Change{}
	region, inECR := install.RegistryRegion(t.ref.RegistryStr())
	if !inECR {
		return none, nil
	}
	session, err := t.Session(ctx, region)
	if err != nil {
		return none, err
	}
	target, ours := install.NewAccount(session, "").Registry.ParseImage(t.ref.Name())
	if !ours {
		return none, nil
	}
	if changes, _, err := install.NewAccount(session, "").Registry.Look(ctx, target); err != nil || len(changes) == 0 {
		return none, err
	}
	cluster, err := t.nearbyCluster(ctx)
	if err != nil && ctx.Err() == nil {
		report.Notes = append(report.Notes,
			"the cluster cannot be reached, so that the new repository is not marked as belonging to it, and nexusctl delete --full leaves it")
	}
	changes, _, err := install.NewAccount(session, cluster).Registry.Look(ctx, target)
	return changes, err
}

// nearbyCluster identifies the cluster, if it can be reached.
func (t *pushTarget) nearbyCluster(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	_, c, err := t.Connect()
	if err != nil {
		return "", err
	}
	return connection.ClusterID(limited, c)
}
