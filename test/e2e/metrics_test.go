// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// scrape reads what the operator exposes, and the same as text.
func scrape(address string) (map[string]*dto.MetricFamily, []byte, error) {
	res, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, nil, errors.Join(err, fmt.Errorf("%s: %s", res.Status, text))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	return families, text, err
}

// sample returns the value of the series with these labels; of a histogram its count. Without such a series it is -1.
func sample(families map[string]*dto.MetricFamily, d metrics.Definition, labels ...string) float64 {
	for _, m := range families[d.Name].GetMetric() {
		got := map[string]string{}
		for _, l := range m.Label {
			got[l.GetName()] = l.GetValue()
		}
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && got[labels[i]] == labels[i+1]
		}
		if matches {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return -1
}

func TestMetrics_ARunExposesExactlyTheDocumentedOnes(t *testing.T) {
	address := world.FreeAddress(t)
	b := newBed(t, "--metrics-bind-address="+address, "--check-interval=2s")
	queue := driftQueue(b, "metrics-drift-events")
	b.Restart("--metrics-bind-address="+address, "--check-interval=2s", "--check-interval-with-events=2s", "--drift-events-queue="+queue)
	b.World.AWS().Fault(emulator.Match{Service: "sqs", Op: "ReceiveMessage", Times: 1}, emulator.Fail(403, "AccessDenied", "not allowed"))
	if err := b.World.AWS().SendMessage(b.Ctx(), queue, heartbeat("123456789012", time.Now())); err != nil {
		t.Fatal(err)
	}
	role := b.role("metrics")
	b.Create(provider("aws"), &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "assumed"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1", RoleARN: role}})
	kept := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "kept"},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: through("assumed"), BucketName: "metrics-kept",
			Versioning: &v1alpha1.S3Versioning{Enabled: true}}}
	taken := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "taken"},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: through("aws"), BucketName: "metrics-taken"}}
	if _, err := b.s3().CreateBucket(b.Ctx(), &s3.CreateBucketInput{Bucket: aws.String(taken.Spec.BucketName),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	c := b.Capability("examples/test-capability.yaml")
	b.Create(kept, taken, c)
	deny := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "metrics-deny"},
		Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: "denyExternalNetworkAccess", Action: "Block"}}}
	if err := b.Client.Create(b.Ctx(), deny); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), deny) })
	b.Create(&intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: "deny"},
		Spec: intentv1alpha1.SecurityIntentBindingSpec{Intents: []intentv1alpha1.MatchIntent{{Name: deny.Name}},
			Selector: intentv1alpha1.WorkloadSelector{WorkloadSelector: &intentv1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}})
	b.Running(c)
	b.Ready(kept)
	b.Shows(taken, "Stalled", metav1.ConditionTrue, "Conflict")

	_, err := b.s3().PutBucketVersioning(b.Ctx(), &s3.PutBucketVersioningInput{Bucket: aws.String("metrics-kept"),
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended}})
	if err != nil {
		t.Fatal(err)
	}
	b.World.AWS().Fault(emulator.Match{Service: "s3", Resource: "metrics-kept*", Times: 1}, emulator.Throttle())
	var families map[string]*dto.MetricFamily
	var text []byte
	b.Eventually(time.Minute, "the counts", func() (err error) {
		if families, text, err = scrape(address); err != nil {
			return err
		}
		return countsOf(families, c)
	})
	exposesWhatIsDocumented(t, families)
	problems, err := promlint.New(bytes.NewReader(onlyOurs(text))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", err, problems)
	}
}

// countsOf says which count is not what the test has made.
func countsOf(families map[string]*dto.MetricFamily, c *nexusv1.NexusAICapability) error {
	for _, want := range []struct {
		d      metrics.Definition
		least  float64
		labels []string
	}{
		{metrics.BuildInfo, 1, nil},
		{metrics.Shards, 1, []string{"shard", "0"}},
		{metrics.ReconcileFailures, 1, []string{"controller", "s3bucket", "class", metrics.ClassStalled}},
		{metrics.Capabilities, 1, []string{"phase", string(nexusv1.PhaseRunning)}},
		{metrics.CapabilityPhase, 1, []string{"capability_namespace", c.Namespace, "capability", c.Name, "phase", string(nexusv1.PhaseRunning)}},
		{metrics.CapabilityConditions, 1, []string{"type", "Ready", "status", "True"}},
		{metrics.CapabilityStepDuration, 1, []string{"step", "S3"}},
		{metrics.CapabilityStepDuration, 1, []string{"step", "Backend"}},
		{metrics.Resources, 2, []string{"kind", "S3Bucket", "state", "Ready"}},
		{metrics.Resources, 1, []string{"kind", "S3Bucket", "state", "Stalled"}},
		{metrics.Resources, 2, []string{"kind", "AWSProvider", "state", "Ready"}},
		{metrics.StalledResources, 1, []string{"kind", "S3Bucket", "reason", "Conflict"}},
		{metrics.DriftedResources, 0, []string{"kind", "S3Bucket"}},
		{metrics.PendingPlans, 0, []string{"kind", "S3Bucket"}},
		{metrics.OldestPendingPlan, 0, []string{"kind", "S3Bucket"}},
		{metrics.DriftDetected, 1, []string{"kind", "S3Bucket"}},
		{metrics.DriftCorrected, 1, []string{"kind", "S3Bucket"}},
		{metrics.DriftMessages, 1, []string{"result", "Heartbeat"}},
		{metrics.DriftHeartbeat, 1, []string{"account", "123456789012", "region", "ap-southeast-1"}},
		{metrics.DriftReadFailures, 1, nil},
		{metrics.AWSRequests, 1, []string{"service", "s3", "operation", "CreateBucket", "class", "OK", "code", "OK"}},
		{metrics.AWSRequests, 1, []string{"service", "s3", "class", "Throttled"}},
		{metrics.AWSRequestDuration, 1, []string{"service", "s3", "operation", "CreateBucket"}},
		{metrics.AWSThrottled, 1, []string{"service", "s3"}},
		{metrics.AWSLimiterWait, 1, []string{"service", "s3"}},
		{metrics.AWSLimiterRefused, 0, []string{"service", "s3"}},
		{metrics.RoleSessionExpiry, float64(time.Now().Unix()), nil},
		{metrics.RoleSessionRefreshFailures, 0, nil},
		{metrics.Intents, 1, []string{"engine", "NetworkPolicy", "level", "Enforced"}},
	} {
		if got := sample(families, want.d, want.labels...); got < want.least {
			return fmt.Errorf("%s%v is %v, want at least %v", want.d.Name, want.labels, got, want.least)
		}
	}
	return nil
}

// exposesWhatIsDocumented compares the metrics of a run with the definitions from which the documentation is generated.
func exposesWhatIsDocumented(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	documented := map[string]metrics.Definition{}
	for _, d := range metrics.All() {
		documented[d.Name] = d
		f, ok := families[d.Name]
		if !ok {
			t.Errorf("%s is documented and not exposed", d.Name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != string(d.Type) || f.GetHelp() != d.Help {
			t.Errorf("%s is a %s: %s", d.Name, got, f.GetHelp())
		}
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		want := d.LabelNames()
		if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(labels)), want) {
			t.Errorf("%s has the labels %q, want %q", d.Name, labels, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if _, ok := documented[name]; !ok && strings.HasPrefix(name, "nexus_") {
			t.Errorf("%s is exposed and not documented", name)
		}
	}
	for _, d := range metrics.Library() {
		if f, ok := families[d.Name]; !ok || strings.ToLower(f.GetType().String()) != string(d.Type) {
			t.Errorf("%s of a library is documented and not exposed as %s", d.Name, d.Type)
		}
	}
}

// onlyOurs keeps the lines of the operator's own metrics.
func onlyOurs(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("nexus_")) || bytes.HasPrefix(line, []byte("# HELP nexus_")) ||
			bytes.HasPrefix(line, []byte("# TYPE nexus_")) {
			out.Write(line)
		}
	}
	return out.Bytes()
}

// role creates a role that anybody may assume, and returns its ARN.
func (b *bed) role(name string) string {
	b.Helper()
	out, err := iam.NewFromConfig(b.admin(homeAccount)).CreateRole(b.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String(name), AssumeRolePolicyDocument: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`)})
	if err != nil {
		b.Fatal(err)
	}
	return aws.ToString(out.Role.Arn)
}
