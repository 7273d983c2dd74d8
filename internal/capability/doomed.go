// SPDX-License-Identifier: Apache-2.0

package capability

import (
	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// DoomedChild returns a live child that is to be deleted with the capability's deletion policy, and with what that implies for its store.
// With mayDeleteData the capability consents to the loss of the data in it.
func DoomedChild(c *nexusv1.NexusAICapability, live awsv1.Resource, kind string, mayDeleteData bool) awsv1.Resource {
	want := live.DeepCopyObject().(awsv1.Resource)
	if IsExisting(live) {
		return want
	}
	want.CommonSpec().DeletionPolicy = allParts().deletionPolicyOf(c, kind, live.GetLabels()[LabelComponent], live)
	if doom := allParts().factsOf(kind).doom; doom != nil {
		doom(c, want, mayDeleteData)
	}
	return want
}

// allowForce sets whether the objects of a bucket, or the messages of a queue, may be deleted with it. What the
// capability says of a store that it does not declare any more is not known, and then the setting stays.
func allowForce(force *bool, mayDeleteData, declared, known bool) {
	if mayDeleteData || known {
		*force = mayDeleteData || declared
	}
}
