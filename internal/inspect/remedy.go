// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// remedies are commands by the reason of a cause. {cause}, {owner} and {root} stand for KIND/NAME with the namespace:
// owner is what a person edits, the capability for an object that it made. {name} and {-n} are the name and the
// namespace of the cause.
var remedies = map[string][]string{
	status.ReasonPaused:              {"nexusctl resume {cause}"},
	notObserved:                      {"nexusctl status"},
	status.ReasonAccessDenied:        {"nexusctl iam policy operator", "nexusctl reconcile {cause} --wait"},
	status.ReasonDrift:               {"nexusctl drift {-n}", "nexusctl plan {cause}"},
	status.ReasonImagePull:           {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonImageRunsAsRoot:     {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonImageUserNotNumeric: {"kubectl describe {cause}", "kubectl edit {owner}"},
	status.ReasonCrashLoop:           {"kubectl logs {-n} {name} --previous"},
	status.ReasonProbeFailing:        {"kubectl logs {-n} {name}", "kubectl describe {cause}"},
	status.ReasonUnschedulable:       {"kubectl describe {cause}", "kubectl describe nodes"},
	status.ReasonPodsRefused:         {"kubectl describe {cause}", "kubectl get resourcequotas {-n}"},
	status.ReasonIngressClassMissing: {"kubectl get ingressclasses", "kubectl edit {owner}"},
	status.ReasonControllerMissing:   {"kubectl get ingressclasses", "kubectl edit {owner}"},
	status.ReasonCredentialsMissing:  {"kubectl describe {cause}"},
	status.ReasonCredentialsInvalid:  {"kubectl describe {cause}"},
	status.ReasonRoleNotAssumable:    {"kubectl describe {cause}", "nexusctl reconcile {cause} --wait"},
	status.ReasonIntentMissing:       {"kubectl get securityintents", "kubectl edit {owner}"},
	status.ReasonNotEnforced:         {"nexusctl status {cause}", "kubectl edit {owner}"},
	status.ReasonConflict:            {"nexusctl plan {cause}", "kubectl edit {owner}"},
}

// commandsFor are the commands for the cause at the end of a path.
func commandsFor(path []*Node) []string {
	root, cause := path[0], path[len(path)-1]
	owner := cause
	if root.Kind == "NexusAICapability" && cause.Relation != Uses {
		owner = root
	}
	templates, known := remedies[cause.Reason]
	switch {
	case known:
	case cause.Health == Missing:
		templates = []string{"kubectl get " + strings.ToLower(cause.Kind) + "s {-n}", "kubectl edit {root}"}
	case cause.Health == Failed && IsOurs(cause.gvk()):
		templates = []string{"kubectl edit {owner}", "nexusctl reconcile {cause} --wait"}
	case cause.Health == Failed, cause.Health == Unknown:
		templates = []string{"kubectl describe {cause}"}
	default:
		templates = []string{"nexusctl tree {root}", "kubectl wait --for=condition=Ready {root} --timeout=10m"}
	}
	fill := strings.NewReplacer("{cause}", argumentOf(cause), "{owner}", argumentOf(owner), "{root}", argumentOf(root), "{name}", cause.Name, "{-n}", "-n "+cause.Namespace)
	var out []string
	for _, t := range templates {
		out = append(out, fill.Replace(t))
	}
	if cause.Code != "" {
		out = append(out, "nexusctl explain "+cause.Code)
	}
	return out
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
