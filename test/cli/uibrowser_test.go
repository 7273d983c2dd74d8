// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// uiWorld has a capability with intents that runs, and one whose bucket belongs to another owner.
func (x *tool) uiWorld() (runs, fails *nexusv1.NexusAICapability) {
	x.Helper()
	x.foreignBucket("myapp-dev-call-data")
	runs = x.Capability("examples/capability-with-intents.yaml")
	for _, o := range x.File("examples/capability-with-intents.yaml") {
		if o.GetKind() == "SecurityIntent" {
			x.Create(o)
		}
	}
	fails = x.Capability("examples/test-capability.yaml")
	x.Create(runs, fails)
	x.Running(runs)
	x.Shows(fails, "Ready", metav1.ConditionFalse, "Conflict")
	return runs, fails
}

func TestUI_InABrowser(t *testing.T) {
	chromium(t)
	x := newTool(t)
	runs, fails := x.uiWorld()
	tab := x.startUI(x.World.Kubeconfig()).open(t)
	defer tab.sound()
	tab.says("Capabilities", fails.Name, runs.Name, "S3Bucket/myapp-dev-call-data", "Running")
	address, kept := value[string](tab, "location.href"), value[string](tab, "Object.values(sessionStorage).join()")
	if strings.Contains(address, tab.token) || kept != tab.token {
		t.Errorf("the token is shown, or was not kept: %s", address)
	}
	tab.accessible("the list")
	tab.picture("ui-list.png")
	tab.filters(runs)
	tab.graph(fails)
	tab.plans(fails)
	tab.intents(runs)
	tab.timeline(runs)
	tab.live(runs)
}

// filters narrows the list down.
func (x *tab) filters(runs *nexusv1.NexusAICapability) {
	x.Helper()
	x.chooses("#filter-kind", "S3Bucket")
	x.says("Objects", "myapp-dev-call-data", "Failed")
	x.do("searching", chromedp.SendKeys("#search", "guarded wxcc"))
	x.says("1 of ", "guarded-dev-wxcc-simulator")
	x.do("clearing", chromedp.SendKeys("#search", strings.Repeat(kb.Backspace, len("guarded wxcc"))))
	x.chooses("#filter-kind", "NexusAICapability")
	x.chooses("#filter-phase", "Running")
	x.chooses("#filter-namespace", runs.Namespace)
	x.says("1 of ", runs.Name)
	for _, f := range []string{"#filter-phase", "#filter-namespace"} {
		x.chooses(f, "")
	}
}

// graph looks at a capability that fails, with the keyboard.
func (x *tab) graph(fails *nexusv1.NexusAICapability) {
	x.Helper()
	x.do("opening the capability", chromedp.Click(fmt.Sprintf(`//a[text()=%q]`, fails.Name)), chromedp.WaitVisible("#graph"))
	x.says("Why it is not ready", "S3Bucket/myapp-dev-call-data", "Conflict", "NX-SPEC-005", "kubectl edit")
	label := value[string](x, `document.querySelector('[data-id="S3Bucket/myapp-dev-call-data"] .hidden').textContent`)
	if label != "S3Bucket/myapp-dev-call-data, Failed, waits for AWSProvider/myapp-dev" {
		x.Errorf("the bucket is called %q", label)
	}
	if lines := value[int](x, `document.querySelectorAll("#graph path.line").length`); lines < 10 {
		x.Errorf("the graph has %d lines", lines)
	}
	x.do("choosing with the keyboard", chromedp.Focus(`[data-id="S3Bucket/myapp-dev-call-data"]`), chromedp.KeyEvent(kb.Enter))
	x.says("Ready=False", "Remedy:", "What happened", "Last writes to AWS")
	x.accessible("the graph")
	x.picture("ui-graph.png")
	x.do("as a list", chromedp.Click(`//button[text()="List"]`), chromedp.WaitVisible("#tree"),
		chromedp.Click(`#tree [data-id="AWSProvider/myapp-dev"]`))
	x.says("AWSProvider/myapp-dev")
	x.accessible("the tree")
	x.do("YAML", chromedp.Click("#details summary"), chromedp.WaitVisible("#details .yaml"))
	x.says("kind: AWSProvider")
}

// plans plans the capability as it is, and an edit.
func (x *tab) plans(fails *nexusv1.NexusAICapability) {
	x.Helper()
	x.do("what would happen now", chromedp.Click(`//a[text()="What would happen now"]`), chromedp.WaitVisible("#plan-result"))
	x.says("to create", "Problems: ", "belongs to another owner")
	if text := value[string](x, `document.querySelector("#manifest").value`); !strings.Contains(text,
		"capabilityName: "+fails.Spec.CapabilityName) || strings.Contains(text, "uid:") {
		x.Errorf("the manifest to edit is\n%s", text)
	}
	x.shows("Plan")
	m, err := json.Marshal(x.manifest(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "more", Namespace: fails.Namespace},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "myapp-dev"}},
			BucketName: "ui-more"}}))
	if err != nil {
		x.Fatal(err)
	}
	value[bool](x, fmt.Sprintf(`(() => { const drop = new DataTransfer(); drop.items.add(new File([%s], "bucket.yaml")); `+
		`document.querySelector("form.plan").dispatchEvent(new DragEvent("drop", {dataTransfer: drop, bubbles: true, cancelable: true})); return true })()`, m))
	x.says("1 to create", "S3Bucket", "more", "ui-more", "s3:CreateBucket")
	x.accessible("the plan")
	x.picture("ui-plan.png")
}

func (x *tab) intents(runs *nexusv1.NexusAICapability) {
	x.Helper()
	x.shows("Intents")
	x.do("the matrix", chromedp.WaitVisible("#matrix"))
	x.says("dnsManipulation", "networkSegmentation", "NetworkPolicy", "Enforced", "EngineMissing", runs.Namespace)
	x.accessible("the matrix")
	x.picture("ui-intents.png")
}

func (x *tab) timeline(runs *nexusv1.NexusAICapability) {
	x.Helper()
	x.shows("Timeline")
	x.says("What the operator did", "nexus-operator", runs.Namespace+" NexusAICapability/"+runs.Name, "AWS: Created")
	x.accessible("the timeline")
}

// live shows an edit without a reload.
func (x *tab) live(runs *nexusv1.NexusAICapability) {
	x.Helper()
	x.shows("Objects")
	x.says(runs.Name, "Running")
	x.Edit(runs, func() { runs.Spec.Suspend = true })
	x.says("Suspended")
	x.Edit(runs, func() { runs.Spec.Suspend = false })
	x.Eventually(time.Minute, "the end of the suspension to be shown", func() error {
		if text := x.text(); strings.Contains(text, "Suspended") {
			return fmt.Errorf("%s", text)
		}
		return nil
	})
	x.Running(runs)
}
