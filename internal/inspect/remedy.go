// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// remedies are commands by the reason of a cause. {cause}, {owner} and {root} stand for KIND/NAME with the namespace:
// owner stands for the object that a person edits: the capability for an object that it made. {name} and {-n} are the name and the
// namespace of the cause.
var remedies = map[string][]string{
	status.ReasonPaused:              {"nexusctl resume {cause}"},
	status.ReasonPlanPending:         {"nexusctl plan {cause}", "nexusctl approve {cause}"},
	notObserved:                      {"nexusctl status"},
	status.ReasonAccessDenied:        {"nexusctl iam policy operator", "nexusctl reconcile {cause} --wait"},
	status.ReasonDrift:               {"nexusctl drift {-n}", "nexusctl plan {cause}"},
	status.ReasonImagePull:           {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonImageRunsAsRoot:     {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonImageUserNotNumeric: {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonCrashLoop:           {"kubectl logs {-n} {name} --previous"},
	status.ReasonJobFailed:           {"kubectl logs {-n} job/{name}", "kubectl edit {owner}"},
	status.ReasonProbeFailing:        {"kubectl logs {-n} {name}", "kubectl describe {cause}"},
	status.ReasonUnschedulable:       {"kubectl describe {cause}", "kubectl describe nodes"},
	status.ReasonPodsRefused:         {"kubectl describe {cause}", "kubectl get resourcequotas {-n}"},
	status.ReasonIngressClassMissing: {"kubectl get ingressclasses", "kubectl edit {owner}"},
	status.ReasonGatewayAPIMissing: {"kubectl get crd gateways.gateway.networking.k8s.io httproutes.gateway.networking.k8s.io",
		"kubectl edit {owner}"},
	status.ReasonGatewayMissing:     {"kubectl get gatewayclasses,gateways -A", "kubectl edit {owner}"},
	status.ReasonGatewayNotAccepted: {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonControllerMissing:  {"kubectl get ingressclasses", "kubectl edit {owner}"},
	status.ReasonCredentialsMissing: {"kubectl describe {cause}"},
	status.ReasonCredentialsInvalid: {"kubectl describe {cause}"},
	status.ReasonRoleNotAssumable:   {"kubectl describe {cause}", "nexusctl reconcile {cause} --wait"},
	status.ReasonIntentMissing:      {"kubectl get securityintents", "kubectl edit {owner}"},
	status.ReasonNotEnforced:        {"nexusctl status {cause}", "kubectl edit {owner}"},
	status.ReasonConflict:           {"nexusctl plan {cause}", "kubectl edit {owner}"},
	status.ReasonBucketNotEmpty:     {"aws s3 rm s3://{aws} --recursive", deleteVersions, "kubectl edit {owner}"},
	status.ReasonProviderDeleting:   {"kubectl edit {owner}"},
	status.ReasonNodeNotReady:       {"kubectl get nodes", "kubectl describe {cause}"},
}

// deleteVersions deletes up to 1000 versions and delete markers: removing the objects of a versioned bucket adds a marker to each.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/delete-bucket.html
const deleteVersions = `aws s3api delete-objects --bucket {aws} --delete "$(aws s3api list-object-versions --bucket {aws} --max-items 1000 ` +
	`--query '{Objects: [Versions, DeleteMarkers][].{Key: Key, VersionId: VersionId}}')"  # if it has versions`

// commandsFor are the commands for the cause at the end of a path.
func commandsFor(path []*Node) []string {
	root, cause := path[0], path[len(path)-1]
	owner := cause
	if root.Kind == "NexusAICapability" && cause.Relation != Uses {
		owner = root
	}
	templates := commandTemplates(root, cause)
	fill := strings.NewReplacer("{cause}", argumentOf(cause), "{owner}", argumentOf(owner), "{root}", argumentOf(root), "{name}", cause.Name,
		"{aws}", nameInAWS(cause), "{kinds}", pluralOf(cause), "{-n}", "-n "+cause.Namespace)
	var out []string
	for _, t := range templates {
		if cause.deleting {
			t = strings.TrimSuffix(t, " --wait") // an object that is gone answers no request
		}
		out = append(out, fill.Replace(t))
	}
	if cause.Code != "" {
		out = append(out, "nexusctl explain "+cause.Code)
	}
	return out
}

// commandTemplates are the commands for a cause. Only a change that needs no person is waited for.
func commandTemplates(root, cause *Node) []string {
	if cause.Kind == "Node" {
		return []string{"kubectl describe node {name}", "kubectl delete node {name}  # only if the machine is gone"}
	}
	if templates, known := remedies[cause.Reason]; known {
		return templates
	}
	if needsPerson(cause.Reason) {
		return commandsForPerson(cause)
	}
	switch {
	case cause.Health == Missing:
		return []string{"kubectl get {kinds} {-n}", "kubectl edit {root}"}
	case cause.waitsForUsers():
		return []string{"nexusctl tree {cause}", "kubectl edit {root}"}
	case cause.Health == Failed && IsOurs(cause.gvk()):
		return []string{"kubectl edit {owner}", "nexusctl reconcile {cause} --wait"}
	case cause.Health == Waiting:
		return []string{"nexusctl tree {root}", "kubectl describe {cause}"}
	case cause.Health == Progressing || cause.Health == Deleting:
		return commandsToWait(root, cause)
	default:
		return []string{"kubectl describe {cause}", "nexusctl tree {root}"}
	}
}

// commandsToWait are the commands for a cause that is under way.
func commandsToWait(root, cause *Node) []string {
	switch {
	case root.deleting:
		return []string{"nexusctl tree {root}", "kubectl wait --for=delete {root} --timeout=10m"}
	case cause.deleting && cause.Relation == Uses: // the object needs another one, or is to go as well
		return []string{"kubectl edit {root}"}
	default:
		return []string{"nexusctl tree {root}", "kubectl wait --for=condition=Ready {root} --timeout=10m"}
	}
}

// commandsForPerson are the commands for a cause that stays until a person acts.
func commandsForPerson(cause *Node) []string {
	switch {
	case cause.Health == Missing:
		return []string{"kubectl get {kinds} {-n}", "kubectl edit {root}"}
	case cause.waitsForUsers():
		return []string{"nexusctl tree {cause}", "kubectl edit {root}"}
	case cause.deleting && IsOurs(cause.gvk()):
		return []string{"kubectl edit {owner}", "nexusctl tree {root}"}
	case cause.Health == Failed && IsOurs(cause.gvk()):
		return []string{"kubectl edit {owner}", "nexusctl reconcile {cause} --wait"}
	case cause.Health == Failed && cause.Created == nil: // there is nothing to describe
		return []string{"kubectl edit {owner}", "nexusctl tree {root}"}
	default:
		return []string{"kubectl describe {cause}", "nexusctl tree {root}"}
	}
}

// remedyFor describes the remedy of a cause for a person; empty where no error code describes it.
func remedyFor(cause *Node) string {
	if c, ok := status.LookupCode(cause.Code); ok {
		return c.Remedy
	}
	return ""
}

// nameInAWS is the last part of the ARN, and the name of the object while the ARN is not known.
func nameInAWS(n *Node) string {
	if i := strings.LastIndexAny(n.ARN, ":/"); i >= 0 && i < len(n.ARN)-1 {
		return n.ARN[i+1:]
	}
	return n.Name
}

// pluralOf is the name of the kind for kubectl get.
func pluralOf(n *Node) string {
	plural, _ := meta.UnsafeGuessKindToResource(n.gvk())
	return plural.Resource
}

// argumentOf names an object on a command line.
func argumentOf(n *Node) string {
	kind := strings.ToLower(n.Kind)
	if n.Kind == "NexusAICapability" {
		kind = "ncap"
	}
	if n.Namespace == "" {
		return kind + "/" + n.Name
	}
	return kind + "/" + n.Name + " -n " + n.Namespace
}
