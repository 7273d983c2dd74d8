package capability

import (
	"cmp"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// The names of the told steps; graph.Node.Step is one of them, or empty for the provider.
const (
	StepDynamoDB       = "DynamoDB"
	StepS3             = "S3"
	StepGlue           = "Glue"
	StepSSM            = "SSM"
	StepSecrets        = "Secrets"
	StepIAM            = "IAM"
	StepNamespace      = "Namespace"
	StepServiceAccount = "ServiceAccount"
	StepBackend        = "Backend"
	StepFrontend       = "Frontend"
	StepIngress        = "Ingress"
)

// Step is one line of the story that a capability's status tells. The story has an order; the work is
// done along the graph's edges.
type Step struct {
	Number int
	Name   string
	// Phase of a capability that is being made and has come as far as this step.
	Phase nexusv1.Phase
	// Condition that speaks of the step.
	Condition string
	// removal orders deletion: traffic stops first, then rights end, then data goes.
	removal int
}

// Steps are the told steps in their order.
var Steps = []Step{
	{1, StepDynamoDB, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady, 9},
	{2, StepS3, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady, 8},
	{3, StepGlue, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady, 7},
	{4, StepSSM, nexusv1.PhaseProvisioningSSM, nexusv1.ConditionParametersReady, 6},
	{5, StepSecrets, nexusv1.PhaseProvisioningSecrets, nexusv1.ConditionSecretsReady, 5},
	{6, StepIAM, nexusv1.PhaseProvisioningIAM, nexusv1.ConditionIdentityReady, 4},
	{7, StepNamespace, nexusv1.PhaseDeploying, nexusv1.ConditionNamespaceReady, 3},
	{8, StepServiceAccount, nexusv1.PhaseDeploying, nexusv1.ConditionIdentityReady, 2},
	{9, StepBackend, nexusv1.PhaseDeployingBackend, nexusv1.ConditionBackendReady, 1},
	{10, StepFrontend, nexusv1.PhaseDeployingFrontend, nexusv1.ConditionFrontendReady, 1},
	{11, StepIngress, nexusv1.PhaseDeployingFrontend, nexusv1.ConditionIngressReady, 0},
}

// removalOfProvider comes last: nothing in AWS can be removed without it.
const removalOfProvider = 10

// StepOf returns the step of that name; ok is false for the provider's, which is in none.
func StepOf(name string) (Step, bool) {
	i := slices.IndexFunc(Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return Steps[i], true
}

// DeletionOrder returns the IDs of a graph in waves of deletion: workloads first, so that traffic stops;
// then access, before data goes; then secrets, parameters, Glue, S3, DynamoDB; the provider last. It
// respects the graph's edges.
func DeletionOrder(g *graph.Graph) [][]string {
	type place struct{ removal, wave int }
	places := map[place][]string{}
	var keys []place
	for wave, ids := range g.Reverse() {
		for _, id := range ids {
			n, _ := g.Node(id)
			p := place{removalOfProvider, wave}
			if s, ok := StepOf(n.Step); ok {
				p.removal = s.removal
			}
			if places[p] == nil {
				keys = append(keys, p)
			}
			places[p] = append(places[p], id)
		}
	}
	slices.SortFunc(keys, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.removal, b.removal), cmp.Compare(a.wave, b.wave))
	})
	out := make([][]string, 0, len(keys))
	for _, p := range keys {
		out = append(out, places[p])
	}
	return out
}
