// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/shard"
)

func parse(t *testing.T, env map[string]string, args ...string) (Options, error) {
	t.Helper()
	return Parse(args, func(k string) string { return env[k] })
}

func TestFlagsComeBeforeEnvironmentBeforeDefaults(t *testing.T) {
	o, err := parse(t, map[string]string{"AWS_REGION": "eu-west-1", "LOG_LEVEL": "debug", "OPERATOR_NAMESPACE": "ops",
		"EKS_CLUSTER_NAME": "c"}, "--namespace=mine")
	if err != nil {
		t.Fatal(err)
	}
	if o.AWS.Region != "eu-west-1" || o.Log.Level != "DEBUG" || o.Namespace != "mine" || o.AWS.EKSCluster != "c" {
		t.Errorf("%+v", o)
	}
	o, err = parse(t, nil)
	if err != nil || o.AWS.Region != "ap-southeast-1" || o.Pacing.CheckEvery != 5*time.Minute || !o.Leader.Elect ||
		len(o.Guards.AmbientNamespaces) != 0 {
		t.Errorf("%+v %v", o, err)
	}
}

func TestLogLevel_AcceptsTheNamesOfPython(t *testing.T) {
	for name, want := range map[string]string{"warning": "WARN", "CRITICAL": "ERROR", "Fatal": "ERROR", "info": "INFO", "error": "ERROR"} {
		if o, err := parse(t, map[string]string{"LOG_LEVEL": name}); err != nil || o.Log.Level != want {
			t.Errorf("%s: got %q (%v), want %q", name, o.Log.Level, err, want)
		}
	}
	if _, err := parse(t, nil, "--log-level=verbose"); err == nil || !strings.Contains(err.Error(), "--log-level") {
		t.Errorf("got %v", err)
	}
}

func TestLogFormat_IsJSONOrText(t *testing.T) {
	for name, valid := range map[string]bool{"json": true, "text": true, "xml": false} {
		if o, err := parse(t, nil, "--log-format="+name); (err == nil) != valid || o.Log.Format != name {
			t.Errorf("%s: %q %v", name, o.Log.Format, err)
		}
	}
}

func TestSettingsOfSingleKinds(t *testing.T) {
	o, err := parse(t, nil, "--kind-workers=S3Bucket=3", "--kind-check-interval=S3Bucket=10m", "--aws-rates=ssm.PutParameter=10/40")
	if err != nil || o.Pacing.WorkersOf["S3Bucket"] != 3 || o.Pacing.CheckEveryOf["S3Bucket"] != 10*time.Minute ||
		o.AWS.Rates["ssm.PutParameter"] != (Rate{10, 40}) {
		t.Errorf("%+v %v", o, err)
	}
}

func TestKinds_AreSelectedOrLeftOut(t *testing.T) {
	known := []string{"IAMRole", "S3Bucket", "VPC"}
	for text, want := range map[string]string{"": "IAMRole S3Bucket VPC", "*": "IAMRole S3Bucket VPC", "S3Bucket": "S3Bucket",
		"*,-VPC":        "IAMRole S3Bucket",
		"-VPC,-IAMRole": "S3Bucket", "S3Bucket,VPC,-VPC": "S3Bucket"} {
		o, err := parse(t, nil, "--kinds="+text)
		var got []string
		for _, k := range known {
			if o.Kinds.Serves(k) {
				got = append(got, k)
			}
		}
		if err != nil || strings.Join(got, " ") != want || o.Kinds.Check(known) != nil {
			t.Errorf("--kinds=%s serves %v (%v, %v), want %s", text, got, err, o.Kinds.Check(known), want)
		}
	}
	o, err := parse(t, map[string]string{"NEXUS_KINDS": "S3Bucket,Bucket"})
	if err != nil || o.Kinds.Serves("IAMRole") || !o.Kinds.Serves("S3Bucket") {
		t.Errorf("the variable: %v %v", o.Kinds, err)
	}
	if err := o.Kinds.Check(known); err == nil || !strings.Contains(err.Error(), `--kinds: "Bucket"`) ||
		!strings.Contains(err.Error(), "IAMRole, S3Bucket, VPC") {
		t.Errorf("a kind that there is not: %v", err)
	}
}

func TestBadInputNamesItsFlag(t *testing.T) {
	for flag, args := range map[string][]string{
		"--kind-workers":                 {"--kind-workers=S3Bucket=none"},
		"--kind-check-interval":          {"--kind-check-interval=S3Bucket=1ms"},
		"--aws-rates":                    {"--aws-rates=iam=fast"},
		"--workers":                      {"--workers=0"},
		"--check-interval":               {"--check-interval=0s"},
		"--retry-first":                  {"--retry-first=2m"},
		"--stalled-interval":             {"--stalled-interval=0s"},
		"--kube-api-qps":                 {"--kube-api-qps=0"},
		"--leader-elect-lease-duration":  {"--leader-elect-lease-duration=0s"},
		"--log-level":                    {"--log-level=LOUD"},
		"--allowed-endpoints":            {"--allowed-endpoints=ftp://x"},
		"pattern":                        {"--ambient-namespaces=["},
		`pattern "a["`:                   {"--capability-namespaces=a["},
		`pattern "b["`:                   {"--workload-namespaces=b["},
		"--default-permissions-boundary": {"--default-permissions-boundary=arn:aws:iam::123456789012:role/boundary"},
		"--workload-namespace-quota":     {"--workload-namespace-quota=pods=many"},
		`"podz"`:                         {"--workload-namespace-quota=podz=2"},
		"requests.cpu=-1":                {"--workload-namespace-quota=pods=2,requests.cpu=-1"},
		"unexpected argument":            {"start"},
		"unknown flag":                   {"--nonsense"},
		"--tls-assessor-image":           {"--tls-assessor-image=registry.example.com/a b"},
		"--shard: \"2\" is not":          {"--shard=2"},
		"--shard: \"$(POD_INDEX)/2\"":    {"--shard=$(POD_INDEX)/2"},
		"--shard: \"0/17\"":              {"--shard=0/17"},
	} {
		if _, err := parse(t, nil, args...); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestShard_IsAllNamespacesByDefault(t *testing.T) {
	if o, err := parse(t, nil); err != nil || o.Shard != (shard.Shard{}) {
		t.Errorf("%v %v", o.Shard, err)
	}
	if o, err := parse(t, nil, "--shard=5/3"); err != nil || o.Shard != (shard.Shard{Index: 2, Count: 3}) {
		t.Errorf("%v %v", o.Shard, err)
	}
}

func TestGuards_AllowNothingByDefault(t *testing.T) {
	o, err := parse(t, nil)
	if err != nil || len(o.Guards.CapabilityNamespaces)+len(o.Guards.WorkloadNamespaces)+len(o.Guards.WorkloadNamespaceQuota) > 0 ||
		o.Guards.DefaultPermissionsBoundary != "" {
		t.Errorf("%+v %v", o, err)
	}
	o, err = parse(t, nil, "--capability-namespaces=team-*,ops", "--workload-namespaces=apps-*",
		"--default-permissions-boundary=arn:aws-cn:iam::123456789012:policy/teams/boundary",
		"--workload-namespace-quota=pods=20,requests.cpu=1500m,count/jobs.batch=3")
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Guards.CapabilityNamespaces) != 2 || len(o.Guards.WorkloadNamespaces) != 1 ||
		o.Guards.DefaultPermissionsBoundary != "arn:aws-cn:iam::123456789012:policy/teams/boundary" {
		t.Errorf("%+v", o)
	}
	if q := o.Guards.WorkloadNamespaceQuota; q.Pods().Value() != 20 || q.Name("requests.cpu", "").MilliValue() != 1500 || len(q) != 3 {
		t.Errorf("%v", q)
	}
}

func TestInjectsCredentials_IsSeenAtTheOperatorsOwnPod(t *testing.T) {
	for name, tc := range map[string]struct {
		variable, value string
		want            bool
	}{
		"nothing":                    {"AWS_REGION", "eu-west-1", false},
		"a token of the webhook":     {"AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/eks.amazonaws.com/serviceaccount/token", true},
		"a token of somebody else":   {"AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/tokens/aws", false},
		"the agent":                  {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials", true},
		"the agent by IPv6":          {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://[fd00:ec2::23]/v1/credentials", true},
		"a sidecar with credentials": {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9911", false},
	} {
		o, err := parse(t, map[string]string{tc.variable: tc.value})
		if err != nil || o.AWS.InjectsCredentials != tc.want {
			t.Errorf("%s: %t, %v", name, o.AWS.InjectsCredentials, err)
		}
	}
}
