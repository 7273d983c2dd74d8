// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// external adds which existing stores the provider and the operator allow rights on, to the facts of a capability that uses some.
func (g Gatherer) external(c *nexusv1.NexusAICapability, p *v1alpha1.AWSProvider, f *capability.Facts) {
	if !capability.UsesExisting(c) {
		return
	}
	for _, pattern := range p.Spec.AllowedExternalARNs {
		if capability.IsExternalPattern(string(pattern)) {
			f.ExternalARNs = append(f.ExternalARNs, string(pattern))
		}
	}
	f.ReservedARNs = appendQueue(nil, g.DriftEventsQueue)
	if events := p.Spec.DriftEvents; events != nil {
		f.ReservedARNs = appendQueue(f.ReservedARNs, events.QueueURL)
	}
}

// appendQueue adds a pattern of the ARN of a queue with a URL.
func appendQueue(arns []string, url string) []string {
	parts := strings.Split(strings.ReplaceAll(url, "{shard}", "*"), "/")
	if len(parts) < 5 {
		return arns
	}
	return append(arns, "arn:*:sqs:*:"+parts[3]+":"+parts[4])
}
