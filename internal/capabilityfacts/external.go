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
			f.Provider.ExternalARNs = append(f.Provider.ExternalARNs, string(pattern))
		}
	}
	f.Limits.ReservedARNs = appendQueue(nil, g.DriftEventsQueue)
	if events := p.Spec.DriftEvents; events != nil {
		f.Limits.ReservedARNs = appendQueue(f.Limits.ReservedARNs, events.QueueURL)
	}
	for _, arn := range []string{p.Spec.RoleARN, p.Spec.AssumeRoleARN, p.Status.CallerIdentity} {
		f.Limits.ReservedARNs = appendRole(f.Limits.ReservedARNs, arn)
	}
}

// appendRole adds patterns of the ARN of a role, with any path, as which the operator calls AWS: it is named by its ARN, or by that of a
// session of it.
func appendRole(arns []string, arn string) []string {
	account, name := "", ""
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		account, name = parts[4], parts[5]
	}
	kind, name, _ := strings.Cut(name, "/")
	switch kind {
	case "role":
		name = name[strings.LastIndex(name, "/")+1:]
	case "assumed-role":
		name, _, _ = strings.Cut(name, "/")
	default:
		return arns
	}
	return append(arns, "arn:*:iam::"+account+":role/"+name, "arn:*:iam::"+account+":role/*/"+name)
}

// appendQueue adds a pattern of the ARN of a queue with a URL.
func appendQueue(arns []string, url string) []string {
	parts := strings.Split(strings.ReplaceAll(url, "{shard}", "*"), "/")
	if len(parts) < 5 {
		return arns
	}
	return append(arns, "arn:*:sqs:*:"+parts[3]+":"+parts[4])
}
