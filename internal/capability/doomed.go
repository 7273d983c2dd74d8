// SPDX-License-Identifier: Apache-2.0

package capability

import (
	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
)

// DoomedChild returns a live child that is to be deleted, with the deletion policy of the capability and the settings of its store that
// follow from it. With mayDeleteData the capability consents to the loss of the data in the store.
func DoomedChild(c *nexusv1.NexusAICapability, live awsv1.Resource, kind string, mayDeleteData bool) awsv1.Resource {
	want := live.DeepCopyObject().(awsv1.Resource)
	if part.IsExisting(live) {
		return want
	}
	want.CommonSpec().DeletionPolicy = parts.All.DeletionPolicyOf(c, kind, live.GetLabels()[part.LabelComponent], live)
	if doom := parts.All.FactsOf(kind).Doom; doom != nil {
		doom(c, want, mayDeleteData)
	}
	return want
}
