package options

import (
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, env map[string]string, args ...string) (Options, error) {
	t.Helper()
	return Parse(args, func(k string) string { return env[k] })
}

func TestFlagsComeBeforeEnvironmentBeforeDefaults(t *testing.T) {
	o, err := parse(t, map[string]string{"AWS_REGION": "eu-west-1", "LOG_LEVEL": "debug", "OPERATOR_NAMESPACE": "ops", "EKS_CLUSTER_NAME": "c"}, "--namespace=mine")
	if err != nil {
		t.Fatal(err)
	}
	if o.Region != "eu-west-1" || o.LogLevel != "DEBUG" || o.Namespace != "mine" || o.EKSCluster != "c" {
		t.Errorf("%+v", o)
	}
	o, err = parse(t, nil)
	if err != nil || o.Region != "ap-southeast-1" || o.CheckEvery != 5*time.Minute || !o.LeaderElect || len(o.AmbientNamespaces) != 0 {
		t.Errorf("%+v %v", o, err)
	}
}

func TestSettingsOfSingleKinds(t *testing.T) {
	o, err := parse(t, nil, "--kind-workers=S3Bucket=3", "--kind-check-interval=S3Bucket=10m", "--aws-rates=ssm.PutParameter=10/40")
	if err != nil || o.WorkersOf["S3Bucket"] != 3 || o.CheckEveryOf["S3Bucket"] != 10*time.Minute || o.AWSRates["ssm.PutParameter"] != (Rate{10, 40}) {
		t.Errorf("%+v %v", o, err)
	}
}

func TestBadInputNamesItsFlag(t *testing.T) {
	for flag, args := range map[string][]string{
		"--kind-workers":        {"--kind-workers=S3Bucket=none"},
		"--kind-check-interval": {"--kind-check-interval=S3Bucket=1ms"},
		"--aws-rates":           {"--aws-rates=iam=fast"},
		"--workers":             {"--workers=0"},
		"--check-interval":      {"--check-interval=0s"},
		"--retry-first":         {"--retry-first=2m"},
		"--stalled-interval":    {"--stalled-interval=0s"},
		"--kube-api-qps":        {"--kube-api-qps=0"},
		"--log-level":           {"--log-level=LOUD"},
		"--allowed-endpoints":   {"--allowed-endpoints=ftp://x"},
		"pattern":               {"--ambient-namespaces=["},
		"unexpected argument":   {"start"},
		"unknown flag":          {"--nonsense"},
	} {
		if _, err := parse(t, nil, args...); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
