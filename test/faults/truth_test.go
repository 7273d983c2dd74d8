// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
)

// truth watches every object and asks AWS itself, at every write that says Ready at that generation,
// whether it is so.
type truth struct {
	r      *rig
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu   sync.Mutex
	told int
	lies []string
	// judged holds, by UID, the resource version of each claim that was compared with AWS last.
	judged map[types.UID]string
	// ready holds, by UID, the generation of the last claim.
	ready map[types.UID]int64
}

// watchTruth begins to watch; at the end of the test every lie fails it.
func watchTruth(r *rig) *truth {
	ctx, cancel := context.WithCancel(r.Ctx())
	t := &truth{r: r, cancel: cancel, judged: map[types.UID]string{}, ready: map[types.UID]int64{}}
	for _, l := range bed.Lists() {
		t.group.Go(func() { t.follow(ctx, l) })
	}
	r.Cleanup(func() {
		cancel()
		t.group.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		r.Logf("%d claims to be Ready were checked", t.told)
		for _, lie := range t.lies {
			r.Errorf("a status that was not true: %s", lie)
		}
	})
	return t
}

func (t *truth) follow(ctx context.Context, l client.ObjectList) {
	for ctx.Err() == nil {
		w, err := t.r.Client.Watch(ctx, l)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for e := range w.ResultChan() {
			if o, ok := e.Object.(client.Object); ok && (e.Type == watch.Added || e.Type == watch.Modified) {
				t.checkClaim(ctx, o)
			}
		}
		w.Stop()
	}
}

// checkClaim checks one claim. A change meanwhile is no lie: the object is read again.
func (t *truth) checkClaim(ctx context.Context, o client.Object) {
	if !claims(o) {
		return
	}
	t.mu.Lock()
	t.ready[o.GetUID()] = o.GetGeneration()
	t.mu.Unlock()
	wrong, stopped := t.wrong(ctx, o)
	lie := wrong != "" && ctx.Err() == nil && !t.corrected(ctx, o, stopped)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told++
	t.judged[o.GetUID()] = o.GetResourceVersion()
	if !lie {
		return
	}
	t.lies = append(t.lies, fmt.Sprintf("%T %s/%s at generation %d: %s", o, o.GetNamespace(), o.GetName(), o.GetGeneration(), wrong))
}

// corrected reports whether an object has changed since the claim. A failing read keeps an object Ready with Reconciling True, and is
// repeated: then the next result must correct the claim. A child that stopped being Ready asks for a pass over its capability, which must
// do the same.
func (t *truth) corrected(ctx context.Context, o client.Object, stopped bool) bool {
	deadline := time.Now()
	if stopped || meta.IsStatusConditionTrue(bed.ConditionsOf(o), status.Reconciling) {
		deadline = deadline.Add(5 * time.Second)
	}
	for {
		live := o.DeepCopyObject().(client.Object)
		err := t.r.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
		if err != nil || live.GetResourceVersion() != o.GetResourceVersion() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// caughtUp waits until every claim that was written so far has been compared with AWS. A test that spoils AWS calls it first:
// otherwise a claim that was true when it was written is compared with what the test left.
func (t *truth) caughtUp() {
	t.r.Helper()
	t.r.Eventually(30*time.Second, "every claim to be compared with AWS", func() error {
		for _, l := range bed.Lists() {
			if err := t.r.Client.List(t.r.Ctx(), l); err != nil {
				return err
			}
			for _, o := range bed.Items(l) {
				if claims(o) && !t.hasJudged(o) {
					return fmt.Errorf("%T %s/%s at %s", o, o.GetNamespace(), o.GetName(), o.GetResourceVersion())
				}
			}
		}
		return nil
	})
}

func (t *truth) hasJudged(o client.Object) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.judged[o.GetUID()] == o.GetResourceVersion()
}

// wasReady reports whether an object said Ready at its generation before.
func (t *truth) wasReady(o client.Object) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ready[o.GetUID()] == o.GetGeneration()
}

// claims reports whether an object says Ready at its generation.
func claims(o client.Object) bool {
	if o.GetDeletionTimestamp() != nil {
		return false
	}
	for _, c := range bed.ConditionsOf(o) {
		if c.Type == "Ready" {
			return c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
		}
	}
	return false
}

// wrong says what is not as an object claims, and whether that is a child that was Ready before.
func (t *truth) wrong(ctx context.Context, o client.Object) (problem string, stopped bool) {
	switch o := o.(type) {
	case *nexusv1.NexusAICapability:
		return t.wrongCapability(ctx, o)
	case v1alpha1.Resource:
		kind, names := inInventory(o)
		for _, name := range names {
			tags, err := t.r.aws.Tags(ctx, kind, name)
			if problem := disowned(o, kind+" "+name, tags, err); problem != "" {
				return problem, false
			}
		}
	}
	return "", false
}

// disowned says what keeps a resource from being an object's.
func disowned(o client.Object, what string, tags map[string]string, err error) string {
	switch {
	case err != nil:
		return what + ": " + err.Error()
	case tags[ownerUID] != string(o.GetUID()):
		return fmt.Sprintf("%s is tagged with owner %q, not %q", what, tags[ownerUID], o.GetUID())
	}
	return ""
}

// inInventory names an object's resources as an inventory does.
func inInventory(o v1alpha1.Resource) (kind string, names []string) {
	switch o := o.(type) {
	case *v1alpha1.S3Bucket:
		return "s3/bucket", []string{o.Spec.BucketName}
	case *v1alpha1.DynamoDBTable:
		return "dynamodb/table", []string{o.Spec.TableName}
	case *v1alpha1.IAMRole:
		return "iam/role", []string{o.Spec.RoleName}
	case *v1alpha1.GlueDatabase:
		return "glue/database", []string{o.Spec.DatabaseName}
	case *v1alpha1.GlueCrawler:
		return "glue/crawler", []string{o.Spec.CrawlerName}
	case *v1alpha1.GlueTable:
		return "glue/table", []string{o.Status.DatabaseName + "/" + o.Spec.TableName}
	case *v1alpha1.SecretsManagerSecret:
		return "secretsmanager/secret", []string{o.Spec.SecretName}
	case *v1alpha1.SSMParameterSet:
		for n := range o.Spec.Parameters {
			names = append(names, o.Spec.Path+"/"+n)
		}
		return "ssm/parameter", names
	}
	return "", nil
}

// wrongCapability looks at what Running promises: every workload available, every child ready.
func (t *truth) wrongCapability(ctx context.Context, c *nexusv1.NexusAICapability) (problem string, stopped bool) {
	namespace := client.InNamespace(c.Namespace)
	deployments := &appsv1.DeploymentList{}
	if err := t.r.Client.List(ctx, deployments, namespace); err != nil {
		return err.Error(), false
	}
	if len(deployments.Items) < 2 {
		return fmt.Sprintf("%d deployments", len(deployments.Items)), false
	}
	for _, d := range deployments.Items {
		available := false
		for _, cond := range d.Status.Conditions {
			available = available || cond.Type == appsv1.DeploymentAvailable && cond.Status == corev1.ConditionTrue
		}
		if !available || d.Status.ObservedGeneration != d.Generation {
			return "deployment " + d.Name + " is not available", false
		}
	}
	for _, l := range bed.Lists() {
		if err := t.r.Client.List(ctx, l, namespace); err != nil {
			return err.Error(), false
		}
		for _, o := range bed.Items(l) {
			if o.GetUID() != c.UID && !claims(o) {
				return fmt.Sprintf("%T %s is not ready", o, o.GetName()), t.wasReady(o)
			}
		}
	}
	return "", false
}
