// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestPlan_AStoreThatIsLostIsAProblem(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	p := provider(x.Namespace)
	x.Create(p)
	x.Ready(p)
	o := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "lost", Namespace: x.Namespace}, v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}})
	x.Create(o)
	x.Ready(o)
	x.unchanged("", "s3bucket/lost", "-n", x.Namespace)
	if _, err := x.s3().DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String("planned-bucket")}); err != nil {
		t.Fatal(err)
	}
	a := x.run("", "plan", "s3bucket/lost", "-n", x.Namespace)
	if a.code != 1 || !strings.Contains(a.out, "! Missing: the AWS resource existed and no longer exists") || !strings.Contains(a.out, "Problems: 1.") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlan_ShowsWhatOthersAddedToAChild(t *testing.T) {
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	x.apply(x.manifest(c))
	x.Running(c)
	x.Op.Stop() // or it would remove it at once
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-call-data", Namespace: c.Namespace}}
	x.Edit(o, func() { o.Spec.Tags = map[string]v1alpha1.TagValue{"added": "by-hand"} })
	a := x.run("", "plan", "ncap/"+c.Name, "-n", c.Namespace, "--exit-code")
	if a.code != 1 || !strings.Contains(a.out, "~ S3Bucket myapp-dev/myapp-dev-call-data: update\n    spec.tags: ") || !strings.Contains(a.out, "by-hand") || !strings.Contains(a.out, "-> (none)") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if err := x.Get(o); err != nil {
		t.Fatal(err)
	}
	x.Restart("--check-interval=1h")
	x.Eventually(30*time.Second, "the operator to remove what was added", func() error {
		if err := x.Get(o); err != nil || len(o.Spec.Tags) > 0 {
			return fmt.Errorf("%w: tags %v", err, o.Spec.Tags)
		}
		return nil
	})
	x.unchanged("", "ncap/"+c.Name, "-n", c.Namespace)
}
