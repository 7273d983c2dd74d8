// SPDX-License-Identifier: Apache-2.0

package house

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// required are the modules that a go.mod requires, with their versions.
func required(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+) (v\S+)(?: // indirect)?$`).FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	// Kubernetes requires its own modules as v0.0.0, which are replaced.
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+) => \S+ (v\S+)$`).FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// A package of which both modules have the same version, with all that it imports, is compiled once.
func TestTheTestBedSharesTheVersionsOfTheOperator(t *testing.T) {
	ours, bed := required(t, "../../go.mod"), required(t, "../../dev/go.mod")
	shared := 0
	for module, version := range ours {
		other, both := bed[module]
		if !both {
			continue
		}
		shared++
		if other != version {
			t.Errorf("%s: %s in go.mod, %s in dev/go.mod", module, version, other)
		}
	}
	if shared < 50 {
		t.Errorf("only %d modules are in both files", shared)
	}
	for _, m := range []string{"k8s.io/api", "k8s.io/client-go", "k8s.io/apiserver"} {
		if strings.Replace(bed["k8s.io/kubernetes"], "v1.", "v0.", 1) != ours[m] {
			t.Errorf("the test bed runs Kubernetes %s, and the operator uses %s %s", bed["k8s.io/kubernetes"], m, ours[m])
		}
	}
}

// A program that is linked with the libraries of the machine that built it does not start in the image of the operator, which has none.
func TestBuild_LinksNoLibraries(t *testing.T) {
	show := exec.Command("make", "-s", "-C", "../..", "--no-print-directory", "--eval", "print-cgo: ; @printenv CGO_ENABLED", "print-cgo")
	show.Env = append(os.Environ(), "CGO_ENABLED=1")
	got, err := show.Output()
	if err != nil || strings.TrimSpace(string(got)) != "0" {
		t.Errorf("make builds with CGO_ENABLED=%q, %v", got, err)
	}
}

// A program that does not know its version cannot name its image: nexusctl deploy, and status, which compares the two.
func TestBuild_StampsTheVersionOfTheChart(t *testing.T) {
	chart, err := os.ReadFile("../../charts/nexus-operator/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^appVersion: (.+)$`).FindSubmatch(chart)
	if version == nil {
		t.Fatal("the chart has no appVersion")
	}
	plan, err := exec.Command("make", "-n", "-C", "../..", "build").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(plan), "-X main.version="+string(version[1])); n != 2 {
		t.Errorf("%d programs are built with version %s, want 2:\n%s", n, version[1], plan)
	}
}

// describing are the modules of the AWS SDK whose descriptions of all operations the operator builds when it starts, with the reason.
// Modules of September 2026 and later have them for services with JSON. A module stays at the last version before that, unless a kind
// needs what is newer in it: also a member that it does not name, where an update sends back the whole object that it read.
var describing = map[string]string{
	"service/cloudwatchlogs": "without retentionPolicyName, a group with a policy looks like one without retention",
	"service/dynamodb":       "the export names what no field can say, such as disassociationProtectionEnabled",
	"service/glue":           "UpdateTable replaces the whole table, and an earlier version would drop members such as FederatedTable",
	"service/kms":            "an observed key is exported with all that AWS shows, such as encapsulationAlgorithms",
	"service/signin":         "credentials of the SDK require it",
	"service/sso":            "credentials of the SDK require it",
	"service/ssooidc":        "credentials of the SDK require it",
}

// The operator holds no descriptions of operations that it never calls.
func TestTheOperatorBuildsFewDescriptionsOfAWS(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", "../../cmd/nexus-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(describing)
	for _, m := range regexp.MustCompile(`(?m)^github.com/aws/aws-sdk-go-v2/(service/[a-z0-9]+)/schemas$`).FindAllSubmatch(deps, -1) {
		service := string(m[1])
		if describing[service] == "" {
			t.Errorf("%s builds descriptions of all its operations at each start: require the last version that has no package schemas, "+
				"or name the reason in describing", service)
		}
		delete(unused, service)
	}
	for service := range unused {
		t.Errorf("%s has no descriptions: take it out of describing", service)
	}
}
