// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A cluster with 10,000 objects, 500 of them capabilities. What the page holds and hears is bounded, which a clock on a busy machine could
// not tell.
func TestUI_HoldsTenThousandObjects(t *testing.T) {
	extent.Full(t)
	const capabilities, buckets = 500, 9500
	chromium(t)
	x := newTool(t)
	x.Op.Stop() // which nothing would be left to do for
	namespace := x.MakeNamespace("ui-many")
	c := x.Capability("examples/test-capability.yaml")
	c.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "many-000"}
	x.Create(c)
	x.copies(c, "nexuscapabilities", capabilities-1, func(i int, o *unstructured.Unstructured) { o.SetName(fmt.Sprintf("many-%03d", i+1)) })
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bucket-0000"}, Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: "ui-many-bucket-0000"}}
	x.Create(b)
	x.copies(b, "s3buckets", buckets-1, func(i int, o *unstructured.Unstructured) {
		o.SetName(fmt.Sprintf("bucket-%04d", i+1))
		o.Object["spec"].(map[string]any)["bucketName"] = "ui-many-" + o.GetName()
	})
	page := x.startUI(x.World.Kubeconfig())
	tab := page.open(t)
	defer tab.sound()
	tab.says(fmt.Sprintf("%d of ", capabilities), fmt.Sprintf("S3Bucket (%d)", buckets), "Page 1 of 10")
	tab.chooses("#filter-kind", "")
	tab.says("Page 1 of 20")
	tab.staysSmall("all objects")
	tab.do("searching", chromedp.SendKeys("#search", "bucket-12"))
	tab.says("100 of ", "Page 1 of 2")
	tab.staysSmall("a search")
	tab.accessible("a long list")

	// The stream tells everything once, and then only what changes.
	l := page.follow()
	l.until(x, "all rows", func(rows map[string]feedRow) bool { return len(rows) >= capabilities+buckets })
	messages, bytes := l.told(page)
	if bytes > 10<<20 || messages > 200 {
		t.Errorf("%d objects are %d messages with %d bytes", capabilities+buckets, messages, bytes)
	}
	time.Sleep(time.Second) // of rest
	if m, b := l.told(page); m != messages || b != bytes {
		t.Errorf("while nothing changed, %d messages with %d bytes came", m-messages, b-bytes)
	}
	changed := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bucket-1234"}}
	changed.Generation = 1
	x.Eventually(30*time.Second, "the edit of a bucket", func() error {
		if err := x.Client.Get(x.Ctx(), client.ObjectKeyFromObject(changed), changed); err != nil {
			return err
		}
		changed.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "AccessDenied",
			Message: "s3:CreateBucket", LastTransitionTime: metav1.Now(), ObservedGeneration: changed.Generation}}
		return x.Client.Status().Update(x.Ctx(), changed)
	})
	tab.says("S3Bucket/bucket-1234 s3:CreateBucket")
	if m, b := l.told(page); m-messages > 3 || b-bytes > 4096 {
		t.Errorf("the change of one object was %d messages with %d bytes", m-messages, b-bytes)
	}
}

// copies stores copies of an object until the end of the test.
func (x *tool) copies(o client.Object, resource string, n int, edit func(i int, o *unstructured.Unstructured)) {
	x.Helper()
	gvk, err := x.Client.GroupVersionKindFor(o)
	if err != nil {
		x.Fatal(err)
	}
	made, err := x.World.Copy(x.Ctx(), schema.GroupResource{Group: gvk.Group, Resource: resource}, client.ObjectKeyFromObject(o), n, edit)
	if made != nil {
		x.Cleanup(func() {
			if err := made.Remove(x.Ctx()); err != nil {
				x.Error(err)
			}
		})
	}
	if err != nil {
		x.Fatal(err)
	}
}

// staysSmall compares what the page holds with bounds that do not depend on the number of objects.
func (x *tab) staysSmall(view string) {
	x.Helper()
	if nodes := value[int](x, `document.querySelectorAll("*").length`); nodes > 2000 {
		x.Errorf("%s: the document has %d elements", view, nodes)
	}
	if used := value[int](x, `performance.memory.usedJSHeapSize`); used > 128<<20 {
		x.Errorf("%s: the page holds %d bytes", view, used)
	}
}

// told returns how many messages a listener heard, and the bytes of all answers of the page.
func (l *listener) told(p *uiPage) (messages, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.messages, p.heard.Len()
}

// A bucket that differs from its declaration shows both values, without a reload.
func TestUI_ShowsDriftInABrowser(t *testing.T) {
	extent.Full(t)
	chromium(t)
	x := newTool(t, "--check-interval=1h")
	b := x.bucketOf("seen-drifting")
	x.Edit(b, func() { b.Spec.DriftPolicy = v1alpha1.DriftReport })
	x.Ready(b)
	tab := x.startUI(x.World.Kubeconfig()).open(t)
	defer tab.sound()
	tab.chooses("#filter-kind", "S3Bucket")
	tab.do("opening the bucket", chromedp.Click(fmt.Sprintf(`//a[text()=%q]`, b.Name)), chromedp.WaitVisible("#graph"))
	tab.says("Ready=True")
	if strings.Contains(tab.text(), "Drift policy") {
		t.Errorf("a bucket that is as declared shows drift:\n%s", tab.text())
	}
	x.suspendVersioning(b.Name)
	x.wants(x.run("", "reconcile", "s3bucket/"+b.Name, "-n", x.Namespace, "--wait"), 0, "fields that differ: 1")
	tab.says("Drift policy: Report", "Declared", "Found in AWS")
	cells := value[string](tab, `[...document.querySelectorAll("#drift tbody tr:first-child > *")].map((c) => c.textContent).join(" | ")`)
	if cells != "Versioning.Enabled | true | false" {
		t.Errorf("the drift is shown as %q", cells)
	}
	tab.accessible("drift")
	tab.picture("ui-drift.png")
	tab.shows("Objects")
	tab.says("1 field differs in AWS")
}
