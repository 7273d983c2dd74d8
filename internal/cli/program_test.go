// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/cli"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// run runs nexusctl without a cluster and without an environment.
func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	return runAs(t, "/usr/bin/nexusctl", args...)
}

func runAs(t *testing.T, name string, args ...string) (out, errs string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var o, e bytes.Buffer
	p := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Version: "v1.2.3",
		Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &o, ErrOut: &e}}
	code = p.Run(t.Context(), append([]string{name}, args...))
	return o.String(), e.String(), code
}

// file writes a manifest to a file and returns its path.
func file(t *testing.T, manifest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// capabilityFile has one capability.
const capabilityFile = "../../examples/test-capability.yaml"

func TestMistakesInTheCommandLineExitWith2(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":         {[]string{"plam"}, `unknown command "plam"`},
		"unknown flag":            {[]string{"plan", "--fil=x"}, "unknown flag: --fil"},
		"nothing to plan":         {[]string{"plan"}, "-f FILE"},
		"two things to plan":      {[]string{"plan", "-f", "x.yaml", "--all"}, "one of them"},
		"namespaces without all":  {[]string{"plan", "ncap/x", "-A"}, "--all-namespaces"},
		"format":                  {[]string{"plan", "ncap/x", "-o", "xml"}, `--output: "xml"`},
		"no manifest to plan":     {[]string{"plan", "-f", "nowhere.yaml"}, "nowhere.yaml"},
		"no YAML to plan":         {[]string{"plan", "-f", "../../Makefile"}, "Makefile: "},
		"a file without its flag": {[]string{"validate", capabilityFile}, "name files with -f"},
		"a key twice in a plan": {[]string{"plan", "-f", file(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nkind: Namespace\n")},
			`line 4: key "kind" is set twice`},
		"a kind of no such name": {[]string{"plan", "-f", file(t, "apiVersion: nexus.ai/v1\nkind: NexusCapability\nmetadata: {name: a}\n")},
			"did you mean NexusAICapability?"},
		"a group of no such name": {[]string{"plan", "-f", file(t, "apiVersion: nexus.io/v1\nkind: NexusAICapability\nmetadata: {name: a}\n")},
			"did you mean nexus.ai/v1?"},
		"arguments":           {[]string{"version", "x"}, `"x"`},
		"version format":      {[]string{"version", "--client", "-o", "xml"}, `--output: "xml"`},
		"nothing to validate": {[]string{"validate"}, "-f FILE"},
		"no such file":        {[]string{"validate", "-f", "nowhere.yaml"}, "nowhere.yaml"},
		"operator flag": {[]string{"render", "-f", "../../examples/test-capability.yaml", "--operator-arg=--log-level=loud"},
			"--log-level"},
		"nothing to import":     {[]string{"import"}, "--tag KEY=VALUE or --from-terraform"},
		"import of no name":     {[]string{"import", "s3bucket"}, "not KIND/NAME"},
		"import of a bad tag":   {[]string{"import", "--tag", "=x"}, "name each key once"},
		"a tag with two values": {[]string{"import", "--tag", "a=x", "--tag", "a=y"}, "name each key once"},
		"tags and a state":      {[]string{"import", "--tag", "a=x", "--from-terraform", "x"}, "--tag does not go with"},
		"import of another ARN": {[]string{"import", "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/x/1"},
			"no kind can be imported by such an ARN"},
		"no Terraform state":     {[]string{"import", "--from-terraform", "../../examples/test-capability.yaml"}, "Terraform state"},
		"status format":          {[]string{"status", "-o", "xml"}, `--output: "xml" is none of text, wide, json and yaml`},
		"tree format":            {[]string{"tree", "ncap/x", "-o", "xml"}, `--output: "xml"`},
		"tree of nothing":        {[]string{"tree"}, "accepts 1 arg"},
		"explain format":         {[]string{"explain", "ncap/x", "-o", "wide"}, `--output: "wide"`},
		"drift format":           {[]string{"drift", "-o", "xml"}, `--output: "xml"`},
		"nothing to reconcile":   {[]string{"reconcile"}, "KIND/NAME"},
		"two things to resume":   {[]string{"resume", "ncap/x", "--all"}, "one of them"},
		"namespaces to suspend":  {[]string{"suspend", "ncap/x", "-A"}, "--all-namespaces"},
		"waiting for a dry run":  {[]string{"reconcile", "ncap/x", "--wait", "--dry-run"}, "--wait does not go with --dry-run"},
		"whose policy":           {[]string{"iam", "policy"}, "operator, installer or app"},
		"unknown policy":         {[]string{"iam", "policy", "tenant"}, "tenant"},
		"nothing of iam":         {[]string{"iam"}, "iam policy"},
		"no application":         {[]string{"iam", "policy", "app"}, "-f FILE, -k DIR or ncap/NAME"},
		"two applications":       {[]string{"iam", "policy", "app", "ncap/x", "-f", "x.yaml"}, "one of them"},
		"no capability":          {[]string{"iam", "policy", "app", "-f", "../../examples/intents"}, "no NexusAICapability"},
		"nothing of secrets":     {[]string{"secrets"}, "secrets status or secrets set"},
		"secrets format":         {[]string{"secrets", "status", "-o", "wide"}, `--output: "wide"`},
		"no value":               {[]string{"secrets", "set", "awssecret/x"}, "--from-file KEY=PATH"},
		"a value in the command": {[]string{"secrets", "set", "awssecret/x", "--from-file", "apiKey"}, `"apiKey" is not of the form KEY=PATH`},
		"two values from stdin":  {[]string{"secrets", "set", "awssecret/x", "--from-file", "a=-", "--from-file", "b=-"}, "one value only"},
		"a key twice":            {[]string{"secrets", "set", "awssecret/x", "--from-file", "a=x", "--from-file", "a=y"}, "twice"},
		"nothing to build":       {[]string{"build"}, "build operator or build app"},
		"no source tree":         {[]string{"build", "operator", "--source", "../../docs"}, "--source"},
		"unknown architecture":   {[]string{"build", "operator", "--source", "../..", "--arch", "mips"}, `"mips" is none of`},
		"binaries of no release": {[]string{"build", "operator", "--binary", "amd64=x"}, "--release"},
		"no folder for a layout": {[]string{"build", "operator", "--source", "../..", "--layout", "../../docs"}, "no OCI layout"},
		"no tag to push": {[]string{"build", "operator", "--source", "../..", "--push", "a/b@sha256:1"},
			"to which an image can be pushed"},
		"no time to build":       {[]string{"build", "operator", "--timeout", "0"}, "--timeout"},
		"build format":           {[]string{"build", "operator", "-o", "xml"}, `--output: "xml"`},
		"no component":           {[]string{"build", "app"}, "between 1 and 2 arg"},
		"unknown component":      {[]string{"build", "app", "Data_Base"}, "frontend and backend"},
		"two images":             {[]string{"build", "app", "backend", "ncap/x", "--push", "a/b:c"}, "one of them"},
		"unknown tool":           {[]string{"build", "app", "backend", "--tool", "make"}, `"make" is none of`},
		"files without a base":   {[]string{"build", "app", "backend", "--files", "x"}, "--files and --base"},
		"files with a tool":      {[]string{"build", "app", "backend", "--files", "x", "--base", "a", "--tool", "docker"}, "needs no tool"},
		"base of no name":        {[]string{"build", "app", "backend", "--files", "x", "--base", "A B"}, "--base"},
		"unknown platform":       {[]string{"build", "app", "backend", "--platform", "windows/amd64"}, `"windows/amd64" is no platform`},
		"rollout of nothing":     {[]string{"rollout", "ncap/x", "--component", "Data_Base"}, "frontend and backend"},
		"no time to roll out":    {[]string{"rollout", "--timeout", "0"}, "--timeout"},
		"rollout format":         {[]string{"rollout", "-o", "xml"}, `--output: "xml"`},
		"nothing to deploy":      {[]string{"e2e"}, "-f FILE"},
		"cleanup unasked":        {[]string{"e2e", "-f", capabilityFile, "--skip-app-build"}, "add --yes"},
		"no such step":           {[]string{"e2e", "-f", capabilityFile, "--from-step", "8"}, "from 1 to 7"},
		"last step before first": {[]string{"e2e", "-f", capabilityFile, "--from-step", "5", "--to-step", "4"}, "from 5 to 7"},
		"orphans in a pipeline":  {[]string{"e2e", "-f", capabilityFile, "--skip-app-build", "--yes", "--cascade", "orphan"}, "--cascade"},
		"no time to clean up": {[]string{"e2e", "-f", capabilityFile, "--skip-app-build", "--yes", "--cleanup-timeout", "0"},
			"--cleanup-timeout"},
		"pipeline format": {[]string{"e2e", "-f", capabilityFile, "-o", "xml"}, `--output: "xml"`},
		"unknown end":     {[]string{"e2e", "-f", capabilityFile, "--from-step", "5", "--wait-for", "x"}, "--wait-for"},
		"unknown checks":  {[]string{"e2e", "-f", capabilityFile, "--from-step", "5", "--only", "x"}, "--only"},
		"two capabilities": {[]string{"e2e", "-f", capabilityFile, "-f", "../../examples/nexus-ai-complete.yaml", "--from-step", "5"},
			"more than one"},
		"no capability to apply": {[]string{"e2e", "-f", "../../examples/intents", "--from-step", "5"}, "no NexusAICapability"},
		"nothing to render":      {[]string{"render", "-f", "../../examples/intents"}, "no NexusAICapability"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := run(t, tc.args...)
			if code != 2 || out != "" || !strings.Contains(errs, tc.want) || !strings.HasPrefix(errs, "nexusctl: ") ||
				!strings.HasSuffix(errs, " (NX-CLI-001)\n") {
				t.Errorf("exit code %d, stdout %q, stderr %q, want 2 and %q", code, out, errs, tc.want)
			}
		})
	}
}

// withoutCluster matches the code of an error without a kubeconfig, and without an API server.
var withoutCluster = regexp.MustCompile(` \(NX-CLI-00[25]\)\n$`)

func TestWithoutAClusterTheExitCodeIs4(t *testing.T) {
	unreachable := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(unreachable,
		[]byte("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"+
			"clusters: [{name: a, cluster: {server: \"http://127.0.0.1:1\"}}]\nusers: [{name: a, user: {}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"no kubeconfig, plan":     {"plan", "ncap/x", "--kubeconfig", "nowhere"},
		"no kubeconfig, version":  {"version", "--kubeconfig", "nowhere"},
		"no API server, plan":     {"plan", "ncap/x", "--kubeconfig", unreachable},
		"no API server, manifest": {"plan", "-f", "../../examples/test-capability.yaml", "--kubeconfig", unreachable},
		"no API server, version":  {"version", "--kubeconfig", unreachable},
		"no API server, status":   {"status", "--kubeconfig", unreachable},
		"no API server, object":   {"status", "ncap/x", "--kubeconfig", unreachable},
		"no API server, tree":     {"tree", "ncap/x", "--kubeconfig", unreachable},
		"no API server, explain":  {"explain", "ncap/x", "--kubeconfig", unreachable},
		"no API server, suspend":  {"suspend", "ncap/x", "--kubeconfig", unreachable},
		"no API server, drift":    {"drift", "--kubeconfig", unreachable},
		"no API server, secrets":  {"secrets", "status", "--kubeconfig", unreachable},
		"no API server, rollout":  {"rollout", "ncap/x", "--kubeconfig", unreachable},
		"no kubeconfig, check":    {"reconcile", "--all", "--kubeconfig", "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := run(t, args...)
			if code != 4 || out != "" && out != "Client: v1.2.3\n" || !withoutCluster.MatchString(errs) {
				t.Errorf("exit code %d, stdout %q, stderr %q, want 4 and a reason", code, out, errs)
			}
		})
	}
}

func TestVersion_OfTheClientNeedsNoCluster(t *testing.T) {
	if out, errs, code := run(t, "version", "--client"); code != 0 || out != "Client: v1.2.3\n" || errs != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if out, _, code := run(t, "version", "--client", "-o", "json"); code != 0 || out != "{\"client\":\"v1.2.3\"}\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

func TestVersion_PrintsItsOwnWithoutACluster(t *testing.T) {
	if out, _, code := run(t, "version", "--kubeconfig", "nowhere"); code != 4 || out != "Client: v1.2.3\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if out, _, code := run(t, "--version"); code != 0 || out != "nexusctl version v1.2.3\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

func TestBuild_ADryRunNeedsNothing(t *testing.T) {
	layout := filepath.Join(t.TempDir(), "image")
	out, errs, code := run(t, "build", "operator", "--source", "../..", "--layout", layout, "--dry-run")
	if code != 0 || errs != "" || !strings.Contains(out, "for linux/amd64, linux/arm64") ||
		!strings.Contains(out, "would be written to "+layout) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
	}
	if _, err := os.Stat(layout); err == nil {
		t.Error("a dry run wrote the layout")
	}
}

func TestE2E_ADryRunShowsEveryStepThoughOneFails(t *testing.T) {
	out, errs, code := run(t, "e2e", "-f", capabilityFile, "--backend-source", "x", "--cascade=delete", "--dry-run")
	if code != 4 || !strings.Contains(errs, "the dry run of step 1, Cleanup: ") || strings.Count(out, "/7] ") != 7 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
	}
	for _, line := range []string{
		"[1/7] Cleanup: nexusctl delete --full --yes --cascade=delete\nThe dry run of this step failed: ",
		"[3/7] Build apps: nexusctl build app backend myapp-dev/myapp-dev --source=x\n",
		"[5/7] Apply capability: kubectl apply -f " + capabilityFile + "\n",
		"[6/7] Monitor and wait: nexusctl monitor myapp-dev/myapp-dev --wait-for=address\n[7/7] Verify: nexusctl verify-capability myapp-dev/myapp-dev\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in %q", line, out)
		}
	}
	out, _, code = run(t, "e2e", "-f", capabilityFile, "--from-step", "6", "--dry-run", "-o", "yaml")
	if code != 0 || !strings.Contains(out, "state: Skipped") || !strings.Contains(out, "name: Verify\n  number: 7\n  state: Planned") {
		t.Errorf("exit code %d, stdout %q", code, out)
	}
}

func TestAsAPluginTheHelpSaysKubectl(t *testing.T) {
	out, _, code := runAs(t, "/usr/bin/kubectl-nexus", "plan", "--help")
	if code != 0 || !strings.Contains(out, "kubectl nexus plan (-f FILE") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestEveryVerbHasAnExample(t *testing.T) {
	for _, verb := range []string{"plan", "render", "validate", "version", "import", "status", "tree", "explain", "reconcile", "approve",
		"suspend", "resume", "drift", "iam", "iam policy", "iam policy operator", "iam policy installer", "iam policy app", "secrets",
		"secrets status", "secrets set", "build", "build operator", "build app", "rollout", "e2e"} {
		out, _, code := run(t, append(strings.Fields(verb), "--help")...)
		if code != 0 || !strings.Contains(out, "Examples:\n  nexusctl "+verb) {
			t.Errorf("%s: exit code %d\n%s", verb, code, out)
		}
	}
}

func TestValidate_EveryExampleIsValid(t *testing.T) {
	out, errs, code := run(t, "validate", "-R", "-f", "../../examples")
	if code != 0 || strings.Contains(out, "invalid") || !strings.Contains(out, "NexusAICapability myapp-dev/myapp-dev: valid") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestValidate_NamesTheFieldAtFault(t *testing.T) {
	const begin = "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a, namespace: b}\nspec: {capabilityName: myapp, version: '1', environment: dev, region: ap-southeast-1,\n" +
		"  frontend: {image: i}, backend: {image: i}, "
	const bucket = "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nmetadata: {name: a, namespace: b}\nspec: {providerRef: {name: p}, bucketName: abc, "
	for name, tc := range map[string]struct{ manifest, want string }{
		"unknown field": {begin + "replica: 1}", `unknown field "spec.replica"`},
		"schema":        {begin + "deletionPolicy: Maybe}", "spec.deletionPolicy"},
		"compiler":      {strings.Replace(begin, "ap-southeast-1", "xx-moon-1", 1) + "deletionPolicy: Delete}", "spec.region"},
		"version":       {"apiVersion: nexus.ai/v9\nkind: NexusAICapability\nmetadata: {name: a}", "nexus.ai/v9"},
		"number for a string": {strings.Replace(begin, "'1'", "1.0", 1) + "deletionPolicy: Delete}",
			"spec.version: must be of type string"},
		"string for a number": {strings.Replace(begin, "frontend: {image: i}", "frontend: {image: i, replicas: '2'}", 1) + "}",
			"spec.frontend.replicas: must be of type integer"},
		"boolean for a string": {bucket + "tags: {a: yes}}", "spec.tags.a: must be of type string"},
		"misspelled kind": {strings.Replace(bucket, "S3Bucket", "S3Buckett", 1) + "}",
			"kind: S3Buckett is no kind of aws-infra-operator.runner.codes/v1alpha1; did you mean S3Bucket?"},
		"no name": {strings.Replace(bucket, "name: a, ", "", 1) + "}", "metadata.name: name or generateName is required"},
		"bad name": {strings.Replace(bucket, "name: a,", "name: A_b,", 1) + "}",
			"metadata.name: a lowercase RFC 1123 subdomain"},
		"bad label": {strings.Replace(bucket, "name: a,", "name: a, labels: {a: b c},", 1) + "}",
			"metadata.labels: a valid label"},
		"unknown field of metadata": {strings.Replace(bucket, "name: a,", "name: a, lables: {a: b},", 1) + "}",
			`unknown field "metadata.lables"`},
		"no version": {strings.Replace(bucket, "apiVersion: aws-infra-operator.runner.codes/v1alpha1\n", "", 1) + "}",
			"apiVersion: Required value"},
		"misspelled group": {strings.Replace(bucket, "codes/v1", "code/v1", 1) + "}",
			"has no kind S3Bucket; did you mean aws-infra-operator.runner.codes/v1alpha1?"},
		"no group": {strings.Replace(bucket, "aws-infra-operator.runner.codes/v1alpha1", "v1", 1) + "}",
			"apiVersion: v1 has no kind S3Bucket; did you mean aws-infra-operator.runner.codes/v1alpha1?"},
		"another group of ours": {strings.Replace(bucket, "aws-infra-operator.runner.codes", "nexus.ai", 1) + "}",
			"has no kind S3Bucket; did you mean aws-infra-operator.runner.codes/v1alpha1?"},
		"a group below ours": {strings.Replace(bucket, "aws-infra-operator.runner.codes", "aws.nexus.ai", 1) + "}",
			"has no kind S3Bucket; did you mean aws-infra-operator.runner.codes/v1alpha1?"},
		"another version": {strings.Replace(bucket, "codes/v1alpha1", "codes/v1", 1) + "}",
			"has no kind S3Bucket; did you mean aws-infra-operator.runner.codes/v1alpha1?"},
		"no reference": {"apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: AWSResource\nmetadata: {name: a, namespace: b}\nspec: {providerRef: {name: p}, typeName: \"AWS::Kinesis::Stream\", properties: {Name: {$ref: KMSKey/a}}}",
			"spec.properties.Name: is no reference"},
		"unknown intent": {"apiVersion: intent.security.nimbus.com/v1alpha1\nkind: SecurityIntent\nmetadata: {name: a}\nspec: {intent: {id: dnsManipulaton, action: Block}}",
			`spec.intent.id: "dnsManipulaton" is not in the catalog of intents`},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := run(t, "validate", "-f", file(t, tc.manifest))
			if code != 2 || !strings.Contains(out, "invalid: ") || !strings.Contains(out, tc.want) ||
				!strings.Contains(errs, "1 of 1 object is invalid") {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
		})
	}
}

func TestValidate_FindsEveryMistakeAtOnce(t *testing.T) {
	out, _, code := run(t, "validate", "-f", file(t, "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a, namespace: b}\n"+
		"spec: {capabilityName: My_App, version: 1, environment: dev, region: r, frontend: {image: i, replica: 1}, backend: {image: i, replicas: many}}"))
	for _, want := range []string{`unknown field "spec.frontend.replica"`, "spec.version: must be of type string",
		"spec.backend.replicas: must be of type integer", "spec.capabilityName: "} {
		if code != 2 || !strings.Contains(out, "\n    "+want) {
			t.Errorf("no %q in exit code %d\n%s", want, code, out)
		}
	}
}

// Mistakes of different classes are found together. Readers and schemas usually name the first class alone.
func TestValidate_NoMistakeHidesAnother(t *testing.T) {
	type change struct{ old, new, says string }
	changes := []change{
		{"metadata: {name: a,", "metadata: {name: a, labels: {tier: 1},", "metadata.labels.tier: must be of type string"},
		{"name: a,", "name: A_b,", "metadata.name: "},
		{"capabilityName: app", "capabilityName: My_App", "spec.capabilityName: must be lower-case"},
		{`version: "1"`, "version: 1.5", "spec.version: must be of type string"},
		{"environment: dev, ", "", "spec.environment: Required value"},
		{"frontend: {image: i,", "frontend: {image: i, replica: 1,", `unknown field "spec.frontend.replica"`},
		{"replicas: 2", `replicas: "2"`, "spec.backend.replicas: must be of type integer"},
		{"port: 8080", "port: 99999", "spec.backend.port: should be less than or equal to 65535"},
		{"env: []", "env: [{name: AWS_REGION, value: x}]", "spec.backend.env[0].name: NEXUS_*"},
		{"limits: {cpu: 3}", "limits: {cpu: 1}", "spec.backend.resources: a request is greater than its limit"},
		{"{name: FREE, value: x}", "{name: FREE, value: x}, {name: FREE, value: y}", `Duplicate value`},
	}
	const valid = "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a, namespace: b}\nspec: {capabilityName: app, version: \"1\", environment: dev, region: eu-west-1, " +
		"frontend: {image: i, env: [{name: FREE, value: x}]}, backend: {image: i, replicas: 2, port: 8080, env: [], resources: {requests: {cpu: 2}, limits: {cpu: 3}}}}\n"
	if out, _, code := run(t, "validate", "-f", file(t, valid)); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	all := valid
	for _, c := range changes {
		all = strings.Replace(all, c.old, c.new, 1)
		out, _, code := run(t, "validate", "-f", file(t, strings.Replace(valid, c.old, c.new, 1)))
		if code != 2 || !strings.Contains(out, c.says) {
			t.Errorf("exit code %d, without %q:\n%s", code, c.says, out)
		}
	}
	out, _, _ := run(t, "validate", "-f", file(t, all))
	for _, c := range changes {
		if !strings.Contains(out, c.says) {
			t.Errorf("not found beside the others: %q in\n%s\n%s", c.says, all, out)
		}
	}
}

// Texts that the reader of Kubernetes ignores, or stops at, are reported as mistakes with their lines, and the other documents are
// validated.
func TestValidate_NamesTheLineOfMistakesInText(t *testing.T) {
	const good = "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nmetadata: {name: good}\nspec: {providerRef: {name: p}, bucketName: abc}\n"
	for name, tc := range map[string]struct{ text, want string }{
		"a key that is set twice": {good + "---\n" + good + "kind: S3Bucket\n", `line 10: key "kind" is set twice`},
		"a tab":                   {good + "---\nspec:\n\tname: a\n", "line 7: the line is indented by a tab: use spaces"},
		"no object":               {good + "---\nhello\n", "line 5: the document is no object"},
		"no kind":                 {good + "---\nmetadata: {name: a}\n", "the object at line 5: kind: Required value"},
		"an open bracket":         {good + "---\nspec: {a: b\n", "did not find expected ',' or '}'"},
		"a label that is a number": {good + "---\n" + strings.Replace(good, "name: good", "name: a, labels: {version: 1.0}", 1),
			`the object at line 5: metadata.labels.version: must be of type string: "number": write it in quotes`},
		"a name that is a number": {good + "---\n" + strings.Replace(good, "name: good", "name: 123", 1),
			`the object at line 5: metadata.name: must be of type string: "number"`},
		"an annotation in a list": {good +
			"---\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {a: true}}}]\n",
			`items[0].metadata.annotations.a: must be of type string: "boolean"`},
		"an object that is there": {good + "---\n" + good, "the object at line 5: S3Bucket good is in the file twice"},
		"labels as a list": {good + "---\n" + strings.Replace(good, "name: good", "name: a, labels: [b]", 1),
			`the object at line 5: metadata.labels: must be of type object: "array"`},
		"metadata as a text": {good + "---\n" + strings.Replace(good, "{name: good}", "a", 1),
			`the object at line 5: metadata: must be of type object: "string"`},
		"a finalizer as a text": {good + "---\n" + strings.Replace(good, "name: good", "name: a, finalizers: b", 1),
			`metadata.finalizers: must be of type array: "string"`},
		"an owner's UID": {good + "---\n" + strings.Replace(good, "name: good", "name: a, ownerReferences: [{uid: 5}]", 1),
			`metadata.ownerReferences.uid: must be of type string: "number": write it in quotes`},
		"a time in words": {good + "---\n" + strings.Replace(good, "name: good", "name: a, creationTimestamp: today", 1),
			"metadata.creationTimestamp: must be a time such as"},
		"a version as a number": {good + "---\napiVersion: 1\nkind: S3Bucket\n",
			`apiVersion: must be of type string: "number": write it in quotes`},
		"a list of a number":     {good + "---\napiVersion: v1\nkind: List\nitems: [5]\n", `items[0]: must be of type object: "number"`},
		"a list that is none":    {good + "---\napiVersion: v1\nkind: List\nitems: a\n", `items: must be of type array: "string"`},
		"an item without a kind": {good + "---\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1}]\n", "items[0].kind: Required value"},
		"a file for kustomize":   {good + "---\nresources: [a.yaml]\n", "kind: Required value; a kustomization.yaml is read with -k"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, tc.text)
			out, errs, code := run(t, "validate", "-f", path)
			if code != 2 || !strings.Contains(out, path+": invalid: ") || !strings.Contains(out, tc.want) ||
				!strings.Contains(out, "S3Bucket default/good: valid") || !strings.Contains(errs, "1 file has mistakes") {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
		})
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "a: [", "b.yaml": good, "c.yaml": "b: 1\nb: 2\nkind: X\napiVersion: v1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := run(t, "validate", "-f", dir)
	if code != 2 || !strings.Contains(out, "S3Bucket default/good: valid") || !strings.Contains(errs, "2 files have mistakes") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if _, errs, code := run(t, "validate", "-f", dir, "-f", dir+"/missing.yaml"); code != 2 ||
		!strings.Contains(errs, "missing.yaml\" does not exist") {
		t.Errorf("of a file that is missing: exit code %d\n%s", code, errs)
	}
}

// The API server makes a name of generateName, and kubectl create accepts it.
func TestValidate_TakesObjectsThatAreNamedLater(t *testing.T) {
	out, errs, code := run(t, "validate", "-f",
		file(t, "apiVersion: aws-infra-operator.runner.codes/v1alpha1\nkind: S3Bucket\nmetadata: {generateName: a-}\nspec: {providerRef: {name: p}, bucketName: abc}"))
	if code != 0 || !strings.Contains(out, "S3Bucket default/a-*: valid") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestValidate_RefusesToCheckNothing(t *testing.T) {
	if out, errs, code := run(t, "validate", "-f", file(t, "# nothing\n")); code != 2 || !strings.Contains(errs, "nothing to validate") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestValidate_PassesOverForeignKinds(t *testing.T) {
	out, _, code := run(t, "validate", "-f", file(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"))
	if code != 0 || out != "ConfigMap a: not checked, its kind is not ours\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

func TestRender_PrintsEveryObjectOfACapability(t *testing.T) {
	out, errs, code := run(t, "render", "-f", "../../examples/test-capability.yaml", "--account", "123456789012")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	golden.Check(t, "render.yaml", out)
}

func TestIAMPolicy_OfAnApplicationIsComplete(t *testing.T) {
	out, errs, code := run(t, "iam", "policy", "app", "-f", "../../examples/test-capability.yaml", "--account", "123456789012")
	if code != 0 || errs != "" || strings.Contains(out, "known after") || !strings.Contains(out, "secret:myapp/dev/openai-??????\"") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	golden.Check(t, "iam-policy-app.json", out)
	out, errs, code = run(t, "iam", "policy", "app", "-f", "../../examples/test-capability.yaml")
	if code != 0 || !strings.Contains(out, "<known after AWSProvider/myapp-dev>") || !strings.Contains(errs, "--account") {
		t.Errorf("without an account: exit code %d, %s", code, errs)
	}
}

func TestIAMPolicy_OfTheOperatorWarnsWithoutALimit(t *testing.T) {
	out, errs, code := run(t, "iam", "policy", "operator")
	if code != 0 || !strings.Contains(out, `"dynamodb:CreateTable"`) || !strings.Contains(errs, "limit it by --name-prefix") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	out, errs, code = run(t, "iam", "policy", "operator", "--name-prefix", "team-", "--region", "eu-west-1", "--account", "123456789012")
	if code != 0 || errs != "" || !strings.Contains(out, "arn:aws:dynamodb:eu-west-1:123456789012:table/team-*") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if out, errs, code = run(t, "iam", "policy", "installer"); code != 0 || errs != "" || !strings.Contains(out, `"ecr:PutImage"`) ||
		strings.Contains(out, "dynamodb:") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
}

// gone is an output that no one reads any more.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func TestRun_IsSilentWhenItsReaderHasGone(t *testing.T) {
	var e bytes.Buffer
	p := cli.Program{Kinds: catalog.Kinds, Engines: catalog.Engines, CRDs: crd.Bases, Getenv: func(string) string { return "" },
		Clock:     clock.RealClock{},
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: gone{}, ErrOut: &e}}
	if code := p.Run(t.Context(), []string{"nexusctl", "validate", "-f", capabilityFile}); code != 141 || e.Len() > 0 {
		t.Errorf("exit code %d, %q", code, e.String())
	}
}
