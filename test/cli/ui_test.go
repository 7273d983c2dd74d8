// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// uiPage is nexusctl ui, and what it answered.
type uiPage struct {
	*tool
	// address is that of the page, with the token.
	address, base, token string

	mu    sync.Mutex
	heard strings.Builder
}

// startUI runs nexusctl ui with a kubeconfig until the test ends.
func (x *tool) startUI(kubeconfig string, args ...string) *uiPage {
	x.Helper()
	cmd := exec.Command(x.binary(), append([]string{"ui", "--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.TempDir(), "AWS_REGION=ap-southeast-1", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL=" + x.aws.URL(),
		"OPERATOR_NAMESPACE=default", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		x.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	x.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			x.Errorf("nexusctl ui: %v\n%s", err, &errs)
		}
	})
	if err != nil {
		x.Fatalf("nexusctl ui: %v\n%s", err, &errs)
	}
	base, token, _ := strings.Cut(strings.TrimSpace(address), "#token=")
	return &uiPage{tool: x, address: strings.TrimSpace(address), base: base, token: token}
}

func (p *uiPage) send(ctx context.Context, method, path, body string) *http.Response {
	p.Helper()
	q, err := http.NewRequestWithContext(ctx, method, p.base+"api/"+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// asks reads the data of an answer, and returns its error.
func (p *uiPage) asks(into any, method, path, body string) string {
	p.Helper()
	r := p.send(p.Ctx(), method, path, body)
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		p.Fatal(err)
	}
	p.hear(string(b))
	var a struct {
		Data  json.RawMessage
		Error string
	}
	if err := json.Unmarshal(b, &a); err != nil {
		p.Fatalf("%s: %d %v\n%s", path, r.StatusCode, err, b)
	}
	if a.Error == "" && into != nil {
		if err := json.Unmarshal(a.Data, into); err != nil {
			p.Fatalf("%s: %v\n%s", path, err, b)
		}
	}
	return a.Error
}

func (p *uiPage) hear(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard.WriteString(text)
}

// feedRow holds the fields of a row that the tests read.
type feedRow struct{ Kind, Namespace, Name, Health, Reason, Trouble, Phase, Code string }

// listener follows the feed.
type listener struct {
	mu       sync.Mutex
	rows     map[string]feedRow
	synced   bool
	messages int
}

func (p *uiPage) follow() *listener {
	p.Helper()
	r := p.send(p.Ctx(), http.MethodGet, "feed", "")
	l := &listener{rows: map[string]feedRow{}}
	go func() {
		defer func() { _ = r.Body.Close() }()
		for in := bufio.NewReader(r.Body); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if text, is := strings.CutPrefix(line, "data: "); is {
				p.hear(text)
				l.take(text)
			}
		}
	}()
	return l
}

func (l *listener) take(text string) {
	var m struct {
		Synced  bool
		Rows    []feedRow
		Removed []string
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages++
	l.synced = l.synced || m.Synced
	for _, key := range m.Removed {
		delete(l.rows, key)
	}
	for _, row := range m.Rows {
		l.rows[row.Kind+"/"+row.Namespace+"/"+row.Name] = row
	}
}

// until waits for the rows to be as a function wants.
func (l *listener) until(x *tool, what string, is func(map[string]feedRow) bool) {
	x.Helper()
	x.Eventually(30*time.Second, what, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.synced || !is(l.rows) {
			return fmt.Errorf("synced is %v, and the rows are %+v", l.synced, l.rows)
		}
		return nil
	})
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.messages
}

// detailsOf holds the fields of the details of an object that the tests read.
type detailsOf struct {
	Object     struct{ Health, ARN string }
	Conditions []struct{ Type, Status, Reason, Code, Cause, Remedy string }
	Timeline   struct {
		Items []struct {
			Source, Who, Reason, Message string
			AWS                          bool
		}
	}
	Console, Manifest string
}

func TestUI_FollowsObjectsAndAnswersAsTheCommandsDo(t *testing.T) {
	x := newTool(t)
	x.foreignBucket("ui-taken")
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
	bucket := func(name string) *v1alpha1.S3Bucket {
		return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: x.Namespace},
			Spec: v1alpha1.S3BucketSpec{CommonSpec: common, BucketName: "ui-" + name}}
	}
	p, free, taken := provider(x.Namespace), bucket("free"), bucket("taken")
	x.Create(p, free, taken)
	x.Ready(p, free)
	x.Shows(taken, "Ready", metav1.ConditionFalse, "Conflict")
	_, kube := x.Mark()
	page := x.startUI(x.World.Kubeconfig())
	l := page.follow()
	key := func(name string) string { return "S3Bucket/" + x.Namespace + "/" + name }
	l.until(x, "the rows", func(rows map[string]feedRow) bool {
		return rows[key("free")].Health == "Ready" &&
			rows[key("taken")] == feedRow{Kind: "S3Bucket", Namespace: x.Namespace, Name: "taken", Health: "Failed", Reason: "Conflict",
				Trouble: "S3Bucket/taken", Code: "NX-SPEC-005"}
	})
	place := "apiVersion=aws-infra-operator.runner.codes/v1alpha1&kind=S3Bucket&namespace=" + x.Namespace + "&name="
	var tree struct {
		Tree        struct{ Root struct{ Name, Health string } }
		Explanation struct {
			Ready  bool
			Remedy string
		}
	}
	if e := page.asks(&tree, "GET", "tree?"+place+"taken", ""); e != "" || tree.Tree.Root.Health != "Failed" || tree.Explanation.Ready ||
		tree.Explanation.Remedy == "" {
		t.Errorf("%s %+v", e, tree)
	}
	var d detailsOf
	if e := page.asks(&d, "GET", "object?"+place+"free", ""); e != "" ||
		d.Console != "https://console.aws.amazon.com/go/view?arn=arn%3Aaws%3As3%3A%3A%3Aui-free" ||
		!strings.Contains(d.Manifest, "bucketName: ui-free") || strings.Contains(d.Manifest, "managedFields") {
		t.Errorf("%s %+v", e, d)
	}
	var wrote bool
	for _, i := range d.Timeline.Items {
		wrote = wrote || i.AWS && i.Reason == "Created" && i.Who == "nexus-operator"
	}
	if !wrote {
		t.Errorf("no write to AWS in %+v", d.Timeline)
	}
	page.asks(&d, "GET", "object?"+place+"taken", "")
	if c := d.Conditions[0]; c.Type != "Ready" || c.Code != "NX-SPEC-005" || c.Cause == "" || c.Remedy == "" {
		t.Errorf("%+v", d.Conditions)
	}
	edited := bucket("free")
	edited.Spec.Versioning = &v1alpha1.S3Versioning{Enabled: true}
	asked, err := json.Marshal(map[string]any{"manifest": x.manifest(edited)})
	if err != nil {
		t.Fatal(err)
	}
	var plan struct{ Items []item }
	if e := page.asks(&plan, "POST", "plan", string(asked)); e != "" || callsOf(plan.Items)["s3:PutBucketVersioning"] != 1 {
		t.Errorf("%s %+v", e, plan)
	}
	asked, _ = json.Marshal(map[string]any{"apiVersion": "aws-infra-operator.runner.codes/v1alpha1", "kind": "S3Bucket",
		"namespace": x.Namespace, "name": "free"})
	var now struct{ Items []item }
	if e := page.asks(&now, "POST", "plan", string(asked)); e != "" || len(now.Items) != 1 || len(callsOf(now.Items)) != 0 {
		t.Errorf("%s %+v", e, now)
	}
	var timeline struct {
		Items []struct{ Object, Reason string }
	}
	if e := page.asks(&timeline, "GET", "timeline?namespace="+x.Namespace, ""); e != "" ||
		!slices.ContainsFunc(timeline.Items, func(i struct{ Object, Reason string }) bool {
			return i.Object == "S3Bucket/free" && i.Reason == "Created"
		}) {
		t.Errorf("%s %+v", e, timeline)
	}
	if e := page.asks(nil, "GET", "intents", ""); e != "" {
		t.Error(e)
	}
	events, err := x.World.Audit().Since(kube, world.AuditFilter{UserAgent: "nexusctl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Write() && !strings.Contains(e.URI, "dryRun=All") || e.Resource == "secrets" {
			t.Errorf("nexusctl ui sent %s", e)
		}
	}
	x.Edit(taken, func() { taken.Annotations = map[string]string{wellknown.AnnotationPaused: "true"} })
	l.until(x, "the edit", func(rows map[string]feedRow) bool { return rows[key("taken")].Health == "Paused" })
	x.Edit(taken, func() { taken.Annotations = nil })
	x.Remove(taken)
	l.until(x, "the deletion", func(rows map[string]feedRow) bool {
		return rows[key("taken")].Name == "" && rows[key("free")].Name != ""
	})
	x.Eventually(30*time.Second, "the feed to be quiet", func() error {
		before := l.count()
		time.Sleep(3 * time.Second)
		if n := l.count() - before; n > 0 {
			return fmt.Errorf("%d messages while nothing changed", n)
		}
		return nil
	})
}

func TestUI_ReadsWithTheRightsOfItsUser(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.Create(provider(x.Namespace))
	x.bind("ui-viewer", "view", x.Namespace)
	kubeconfig := func(user string) string {
		config, err := x.World.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/kubeconfig"
		if err := world.WriteKubeconfig(path, config); err != nil {
			t.Fatal(err)
		}
		return path
	}
	page := x.startUI(kubeconfig("ui-viewer"), "--namespace="+x.Namespace)
	l := page.follow()
	l.until(x, "the provider", func(rows map[string]feedRow) bool {
		return len(rows) == 1 && rows["AWSProvider/"+x.Namespace+"/aws"].Name == "aws"
	})
	var s struct {
		Namespace string
		Unlisted  []string
	}
	if e := page.asks(&s, "GET", "session", ""); e != "" || s.Namespace != x.Namespace ||
		!slices.Contains(s.Unlisted, "ClusterSecurityIntentBinding") {
		t.Errorf("%s %+v", e, s)
	}
	if e := page.asks(nil, "GET", "object?apiVersion=aws-infra-operator.runner.codes/v1alpha1&kind=AWSProvider&namespace=kube-system&name=aws",
		""); !strings.Contains(e, "forbidden") {
		t.Error(e)
	}
	x.wants(x.as("ui-stranger", "ui"), 4, `User "ui-stranger" cannot `, "(NX-CLI-003)")
	x.wants(x.run("", "ui", "--port", "70000"), 2, "--port")
	x.wants(x.run("", "ui", "--idle-timeout", "1s"), 0, "http://127.0.0.1:", "#token=")
}

func TestUI_ShowsNoValueOfASecret(t *testing.T) {
	const canary = "canary-81fe02"
	x := newTool(t)
	x.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "operator-secrets"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: operator.User}}})
	p := provider(x.Namespace)
	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "source", Namespace: x.Namespace},
		StringData: map[string]string{"value": canary, "other": canary + "-other"}}
	stored := &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Name: "stored", Namespace: x.Namespace},
		Spec: v1alpha1.SecretsManagerSecretSpec{
			CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, SecretName: "ui/stored",
			SecretStringRef: &v1alpha1.SecretKeyReference{Name: "source", Key: "value"}}}
	x.Create(p, source, stored)
	x.Ready(p, stored)
	page := x.startUI(x.World.Kubeconfig())
	l := page.follow()
	l.until(x, "the object", func(rows map[string]feedRow) bool {
		return rows["SecretsManagerSecret/"+x.Namespace+"/stored"].Health == "Ready"
	})
	edited := stored.DeepCopy()
	edited.Spec.SecretStringRef.Key = "other"
	asked, err := json.Marshal(map[string]any{"manifest": x.manifest(edited)})
	if err != nil {
		t.Fatal(err)
	}
	page.asks(nil, "POST", "plan", string(asked))
	for _, place := range []string{"apiVersion=aws-infra-operator.runner.codes/v1alpha1&kind=SecretsManagerSecret&name=stored",
		"apiVersion=v1&kind=Secret&name=source"} {
		for _, path := range []string{"tree", "object"} {
			page.asks(nil, "GET", path+"?namespace="+x.Namespace+"&"+place, "")
		}
	}
	page.asks(nil, "GET", "timeline", "")
	page.mu.Lock()
	defer page.mu.Unlock()
	if heard := page.heard.String(); strings.Contains(heard, canary) || !strings.Contains(heard, "secretsmanager:PutSecretValue") ||
		!strings.Contains(heard, "are not shown") {
		t.Errorf("the value is shown, or the answers are not about it:\n%s", heard)
	}
}
