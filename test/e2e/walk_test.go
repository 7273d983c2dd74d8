// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/ekswebhook"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// walk is a capability on its way through random moves, and a model of what must not be lost.
type walk struct {
	*bed
	c     *nexusv1.NexusAICapability
	rnd   *rand.Rand
	model *walkModel
	other *otherOperator
	cloud *cloud.Cloud
	// types has the resources of types without a kind.
	types *double.Double
	// zoneID is the hosted zone of the hosts of all walks.
	zoneID string
	// valid is the last spec that is valid, and before is the one before the last edit.
	valid, before *nexusv1.NexusAICapabilitySpec
	// sound is true while the declared spec is valid, and wasSound while that is so of before.
	sound, wasSound bool
	// keyed is true from when the capability has a key until a person gives it up.
	keyed bool
	// stamp names the last edit of the provider's tags, and spread the one that reached every resource.
	stamp, spread string
	log           []string
}

// otherOperator is a second operator that all walks share: absent, alive or paused.
type otherOperator struct {
	mu     sync.Mutex
	t      testing.TB
	bed    *bed
	flags  []string
	op     *operator.Operator
	paused bool
}

// turn starts, pauses, resumes or kills the second operator.
func (o *otherOperator) turn(rnd *rand.Rand) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.op == nil:
		o.op = operator.Start(o.t, o.bed.World, operator.Options{Flags: o.flags})
		return "started"
	case o.paused:
		o.signal(o.op.Resume, false)
		return "resumed"
	case rnd.IntN(4) == 0:
		o.op.Stop()
		o.op = nil
		return "killed"
	default:
		o.signal(o.op.Pause, true)
		return "paused"
	}
}

func (o *otherOperator) signal(send func() error, paused bool) {
	if err := send(); err != nil {
		o.t.Error(err)
	}
	o.paused = paused
}

func (o *otherOperator) stop() {
	if o.op == nil {
		return
	}
	if o.t.Failed() {
		o.t.Logf("log of the second operator:\n%s", operator.Tail(o.op.Log(), 6000))
	}
	o.op.Stop()
}

func (w *walk) store(part string) string {
	return w.c.Name + "-" + part[strings.LastIndex(part, "/")+1:]
}

// stores maps the stores of the capability that are in AWS to their identities: one that was deleted and created again
// has another.
func (w *walk) stores() map[string]string {
	w.Helper()
	out := map[string]string{}
	buckets, err := w.cloud.S3.ListBuckets(w.Ctx(), &s3.ListBucketsInput{})
	for _, x := range must(w.bed, buckets, err).Buckets {
		if part := w.model.partOf("s3/bucket", *x.Name); part != "" {
			out[part] = aws.ToTime(x.CreationDate).String()
		}
	}
	pools, err := w.cloud.Pools(w.Ctx(), w.store(usersPart))
	if must(w.bed, pools, err); len(pools) > 0 {
		out[usersPart] = strings.Join(slices.Sorted(slices.Values(pools)), " and ")
	}
	key, err := w.cloud.Key(w.Ctx(), "alias/"+w.store(keyPart))
	if must(w.bed, key, err); key != "" {
		out[keyPart] = key
	}
	queues, err := w.cloud.SQS.ListQueues(w.Ctx(), &sqs.ListQueuesInput{QueueNamePrefix: aws.String(w.c.Name)})
	for _, url := range must(w.bed, queues, err).QueueUrls {
		if part := w.model.partOf("sqs/queue", url); part != "" {
			if a, err := w.cloud.QueueAttributes(w.Ctx(), url); err == nil {
				out[part] = "created " + a["CreatedTimestamp"] + " holding " + a["ApproximateNumberOfMessages"]
			}
		}
	}
	tables, err := w.cloud.Dynamo.ListTables(w.Ctx(), &dynamodb.ListTablesInput{})
	for _, name := range must(w.bed, tables, err).TableNames {
		part := w.model.partOf("dynamodb/table", name)
		if part == "" {
			continue
		}
		if d, err := w.cloud.Dynamo.DescribeTable(w.Ctx(), &dynamodb.DescribeTableInput{TableName: &name}); err == nil {
			out[part] = fmt.Sprint(aws.ToString(d.Table.TableId), " of ", aws.ToTime(d.Table.CreationDateTime), " holding ",
				aws.ToInt64(d.Table.ItemCount))
		}
	}
	return out
}

// judge asserts that no store that holds data was lost.
func (w *walk) judge() {
	w.Helper()
	if lost := w.model.lost(w.stores()); len(lost) > 0 {
		w.Fatalf("lost:\n%s", strings.Join(lost, "\n"))
	}
	w.checkExisting()
}

// try edits the capability as a user would, and tells the model of an edit that the API server accepted.
func (w *walk) try(change func(s *nexusv1.NexusAICapabilitySpec)) error {
	w.Helper()
	var err error
	w.Eventually(10*time.Second, "editing "+w.c.Name, func() error {
		if err := w.Get(w.c); err != nil {
			return err
		}
		before := w.c.Spec.DeepCopy()
		change(&w.c.Spec)
		after := w.c.Spec.DeepCopy()
		if err = w.bed.Client.Update(w.Ctx(), w.c); apierrors.IsConflict(err) {
			return err
		}
		if err != nil {
			return w.Get(w.c)
		}
		w.model.edited(before, after)
		w.before, w.wasSound = before, w.sound
		return nil
	})
	return err
}

// set makes a valid edit. The declared spec may be invalid still, because of an earlier one.
func (w *walk) set(change func(s *nexusv1.NexusAICapabilitySpec)) {
	w.Helper()
	edit := func(s *nexusv1.NexusAICapabilitySpec) {
		change(s)
		dropUnknownAccess(s)
	}
	must(w.bed, 0, w.try(edit))
	edit(w.valid)
}

// declareStores declares every store that holds data, beside those that are declared.
func (w *walk) declareStores(s *nexusv1.NexusAICapabilitySpec) {
	tables, buckets := tablesOf(s), bucketsOf(s)
	for part := range w.model.full {
		name := part[strings.LastIndex(part, "/")+1:]
		if strings.HasPrefix(part, "dynamodb/") && !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
		if strings.HasPrefix(part, "s3/") && !slices.Contains(buckets, name) {
			buckets = append(buckets, name)
		}
	}
	slices.Sort(tables)
	slices.Sort(buckets)
	setStores(s, tables, buckets)
	if w.model.full[usersPart] != "" {
		setSignIn(s, true)
	}
	if w.keyed && dataServices(s).KMS == nil {
		s.DataServices.KMS = &nexusv1.KMSSpec{}
	}
	for part := range w.model.full {
		name, is := strings.CutPrefix(part, "sqs/queue/")
		if is && !slices.ContainsFunc(dataServices(s).Queues, func(q nexusv1.QueueSpec) bool { return q.Name == name }) {
			s.DataServices.Queues = append(s.DataServices.Queues, nexusv1.QueueSpec{Name: name})
		}
	}
}

// settle declares the last valid spec with every store that holds data, and waits until all runs.
func (w *walk) settle() {
	w.Helper()
	w.set(func(s *nexusv1.NexusAICapabilitySpec) {
		*s = *w.valid.DeepCopy()
		w.declareStores(s)
		s.Suspend = false
	})
	w.sound = true
	w.runs() // without the stores that people named
	w.set(func(*nexusv1.NexusAICapabilitySpec) { delete(w.c.Annotations, "nexus.ai/delete-data") })
	w.spreadTags()
	w.model.settled(&w.c.Spec)
	if w.keyed {
		w.model.full[keyPart] = w.stores()[keyPart]
	}
	w.judge()
}

// runs waits until the capability is Running. SQS does not give the name of a deleted queue again for 60 s, and the operator
// asks again only then.
func (w *walk) runs() {
	w.Helper()
	w.RunningWithin(w.c, 150*time.Second)
}

// spreadTags asks for a check of every AWS object after the provider's tags were edited, which otherwise reach resources
// that exist with the next periodic check.
func (w *walk) spreadTags() {
	if w.stamp == w.spread {
		return
	}
	w.spread = w.stamp
	for _, o := range w.generated() {
		if r, ok := o.(v1alpha1.Resource); ok {
			// A store that was dropped before may go in the meantime.
			patch := client.RawPatch(types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"annotations":{"nexus.ai/reconcile-requested-at":%q}}}`, w.stamp))
			if err := w.Client.Patch(w.Ctx(), r, patch); client.IgnoreNotFound(err) != nil {
				w.Fatal(err)
			}
			w.Eventually(20*time.Second, o.GetName()+" to be checked", func() error {
				err := w.Get(r)
				if apierrors.IsNotFound(err) {
					return nil
				}
				if err != nil || r.CommonStatus().LastHandledReconcileAt != w.stamp {
					return fmt.Errorf("%v, handled %q", err, r.CommonStatus().LastHandledReconcileAt)
				}
				return nil
			})
		}
	}
	w.runs()
}

// fill settles and puts an item, an object or a user into a store that is declared.
func (w *walk) fill() string {
	w.settle()
	parts := slices.Sorted(maps.Keys(partsOf(&w.c.Spec)))
	parts = slices.DeleteFunc(parts, func(p string) bool {
		return p != usersPart && !strings.HasPrefix(p, "dynamodb/") && !strings.HasPrefix(p, "s3/") &&
			(!strings.HasPrefix(p, "sqs/") || strings.HasSuffix(p, deadLetters))
	})
	if len(parts) == 0 {
		return "no store"
	}
	part := parts[w.rnd.IntN(len(parts))]
	switch {
	case part == usersPart:
		w.user(w.signUp)
	case strings.HasPrefix(part, "s3/"):
		w.put(w.store(part), "object", "precious")
	case strings.HasPrefix(part, "sqs/"):
		url, err := w.cloud.SQS.GetQueueUrl(w.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(w.store(part))})
		at := must(w.bed, url, err).QueueUrl
		w.purge(*at)
		_, err = w.cloud.SQS.SendMessage(w.Ctx(), &sqs.SendMessageInput{QueueUrl: at, MessageBody: aws.String("precious")})
		must(w.bed, 0, err)
	default:
		_, err := w.cloud.Dynamo.PutItem(w.Ctx(), &dynamodb.PutItemInput{TableName: aws.String(w.store(part)), Item: item})
		must(w.bed, 0, err)
	}
	w.model.full[part] = w.stores()[part]
	return part
}

var item = map[string]dynamodbtypes.AttributeValue{"pk": &dynamodbtypes.AttributeValueMemberS{Value: "a"},
	"sk": &dynamodbtypes.AttributeValueMemberS{Value: "b"}}

// user does something with the only user of the pool.
func (w *walk) user(do func(pool, name *string) error) {
	w.Helper()
	pools, err := w.cloud.Pools(w.Ctx(), w.store(usersPart))
	for _, id := range must(w.bed, pools, err) {
		must(w.bed, 0, do(&id, aws.String("ann@example.com")))
	}
}

// signUp creates the user, who may be there.
func (w *walk) signUp(pool, name *string) error {
	_, err := w.cloud.Cognito.AdminCreateUser(w.Ctx(), &cognitoidentityprovider.AdminCreateUserInput{UserPoolId: pool, Username: name})
	if err != nil && strings.Contains(err.Error(), "UsernameExists") {
		return nil
	}
	return err
}

func (w *walk) leave(pool, name *string) error {
	_, err := w.cloud.Cognito.AdminDeleteUser(w.Ctx(), &cognitoidentityprovider.AdminDeleteUserInput{UserPoolId: pool, Username: name})
	if err != nil && strings.Contains(err.Error(), "UserNotFound") {
		return nil
	}
	return err
}

func (w *walk) purge(url string) {
	w.Helper()
	_, err := w.cloud.SQS.PurgeQueue(w.Ctx(), &sqs.PurgeQueueInput{QueueUrl: &url})
	must(w.bed, 0, err)
}

// empty removes what a store holds, as a person would.
func (w *walk) empty(part string) {
	w.Helper()
	name := w.store(part)
	delete(w.model.full, part)
	switch {
	case part == keyPart:
		return // there is nothing to take out of it
	case part == usersPart:
		w.user(w.leave)
		return
	case strings.HasPrefix(part, "sqs/"):
		url, err := w.cloud.SQS.GetQueueUrl(w.Ctx(), &sqs.GetQueueUrlInput{QueueName: aws.String(w.store(part))})
		w.purge(*must(w.bed, url, err).QueueUrl)
		return
	}
	if strings.HasPrefix(part, "dynamodb/") {
		_, err := w.cloud.Dynamo.DeleteItem(w.Ctx(), &dynamodb.DeleteItemInput{TableName: &name, Key: item})
		must(w.bed, 0, err)
		return
	}
	w.discard(name)
}

// delete deletes the capability and follows it to its end: a bucket that holds an object keeps it until the object is
// removed. It ends with nothing but what Retain keeps.
func (w *walk) delete() {
	w.Helper()
	w.model.deleting(&w.c.Spec)
	alive := map[string]bool{}
	for _, o := range w.generated() {
		alive[w.partOfObject(o)] = alive[w.partOfObject(o)] || o.GetDeletionTimestamp() == nil
	}
	w.model.betweenObjects(&w.c.Spec, alive)
	if err := w.bed.Client.Delete(w.Ctx(), w.c); client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	deadline := 120 * time.Second // a store that a person empties is looked at again within a minute, and there may be two in a row
	emptied := map[string]bool{}  // the condition stays until the next look, and the bucket may be gone by then
	w.Eventually(deadline, w.c.Name+" to be gone", func() error {
		w.judge()
		err := w.Get(w.c)
		if apierrors.IsNotFound(err) {
			return nil
		}
		for _, part := range droppable {
			var o client.Object
			switch meta := named(w.c.Namespace, w.store(part)); {
			case emptied[part]:
				continue
			case strings.HasPrefix(part, "s3/"):
				o = &v1alpha1.S3Bucket{ObjectMeta: meta}
			case strings.HasPrefix(part, "sqs/"):
				o = &v1alpha1.SQSQueue{ObjectMeta: meta}
			default:
				continue
			}
			if c, err := w.Condition(o, "Ready"); err == nil && (c.Reason == "BucketNotEmpty" || c.Reason == "QueueNotEmpty") {
				w.log = append(w.log, "emptied "+part)
				w.empty(part)
				emptied[part] = true
			}
		}
		return fmt.Errorf("%v, %s %s", err, w.c.Status.Phase, w.c.Status.Message)
	})
	w.judge()
	// A stray object of an operator that was resumed may create what its deletion removes.
	w.Eventually(30*time.Second, "nothing to be left behind in AWS", func() error {
		residue := append(w.model.residue(w.Inventory()), w.model.residue(w.partsOfAI())...)
		if key := w.stores()[keyPart]; key != "" && !w.model.retained[keyPart] { // an inventory does not say whose keys it has
			residue = append(residue, "kms/key "+key)
		}
		if len(residue) > 0 {
			return fmt.Errorf("%v", residue)
		}
		return nil
	})
	w.Eventually(10*time.Second, "the objects to be gone", func() error {
		if left := w.generated(); len(left) > 0 {
			return fmt.Errorf("%d left, such as %T %s", len(left), left[0], left[0].GetName())
		}
		return nil
	})
}

// again creates the capability with a spec, after it was deleted.
func (w *walk) again(s *nexusv1.NexusAICapabilitySpec) {
	w.Helper()
	w.c = w.small(strings.TrimSuffix(w.c.Name, "-dev"))
	w.c.Spec, w.sound = *s.DeepCopy(), true
	w.keyed = s.DataServices != nil && s.DataServices.KMS != nil
	w.model.edited(s, s)
	w.Create(w.c)
}

// generated are the objects of the capability, without the provider that the test made.
func (w *walk) generated() []client.Object {
	w.Helper()
	all := w.children(w.c.Namespace)
	for _, l := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.ServiceAccountList{}, &policyv1.PodDisruptionBudgetList{},
		&autoscalingv2.HorizontalPodAutoscalerList{},
		&batchv1.JobList{}, &batchv1.CronJobList{}, &v1alpha1.ECRRepositoryList{}} {
		if err := w.bed.Client.List(w.Ctx(), l, client.InNamespace(w.c.Namespace),
			client.MatchingLabels{"app.kubernetes.io/managed-by": "nexus-operator"}); err != nil {
			w.Fatal(err)
		}
		all = append(all, kit.Items(l)...)
	}
	return slices.DeleteFunc(all, func(o client.Object) bool { return o.GetName() == "aws" })
}

// assigned are fields to which Kubernetes and AWS give values that no two runs have in common.
var assigned = regexp.MustCompile(`"(clusterIPs?|(?:batch\.kubernetes\.io/)?controller-uid|nodePort|healthCheckNodePort|Version|ItemCount|TableSizeBytes|VersionIdsToStages)":("[^"]*"|\[[^\]]*\]|\{[^}]*\}|[0-9]+),?`)

// state describes what is declared in Kubernetes, and everything in AWS.
func (w *walk) state() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, o := range w.generated() {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		spec := fmt.Sprint(jsonOf(w, map[string]any{"spec": must(w.bed, m, err)["spec"], "data": m["data"], "labels": o.GetLabels()}))
		out[fmt.Sprintf("%T %s", o, o.GetName())] = spec
	}
	mine := map[string][]string{}
	for kind, names := range w.Inventory() {
		for _, name := range names {
			if w.model.partOf(kind, name) != "" {
				mine[kind] = append(mine[kind], name)
			}
		}
	}
	maps.Copy(out, w.cloud.State(w.Ctx(), mine, false))
	maps.Copy(out, w.stateOfAI())
	ids, keys, ai := w.signInIDs(), w.keyIDs(), w.aiIDs()
	for k, v := range out {
		v = balancers.ReplaceAllString(certificates.ReplaceAllString(ids(ai(keys.Replace(v))), "certificate/CERTIFICATE"), "BALANCER")
		v = checksum.ReplaceAllString(v, "")
		v = cloud.SecretSuffix.ReplaceAllString(assigned.ReplaceAllString(v, ""), "$1-~")
		out[k] = strings.ReplaceAll(v, string(w.c.UID), "UID")
	}
	return out
}

// certificates and balancers are identifiers that AWS and the load balancer controller choose.
var (
	certificates = regexp.MustCompile(`certificate/[0-9a-f-]{36}`)
	balancers    = regexp.MustCompile(`k8s-[0-9a-z-]*\.[a-z0-9-]*\.elb\.amazonaws\.com`)
)

// checksum is the annotation by which pods are replaced when their configuration changes.
var checksum = regexp.MustCompile(`"nexus.ai/config-checksum":"[^"]*"`)

// keyIDs replaces the identifiers of the key, which AWS chooses.
func (w *walk) keyIDs() *strings.Replacer {
	key := &v1alpha1.KMSKey{ObjectMeta: named(w.c.Namespace, w.store(keyPart))}
	if err := w.Get(key); client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	if key.Status.ARN == "" {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(key.Status.ARN, "KEY", key.Status.ARN[strings.LastIndex(key.Status.ARN, "/")+1:], "KEY")
}

// signInIDs returns a function that replaces the identifiers of the user pool and its clients, which AWS chooses.
func (w *walk) signInIDs() func(string) string {
	pool := &v1alpha1.CognitoUserPool{ObjectMeta: named(w.c.Namespace, w.store(usersPart))}
	if err := w.Get(pool); apierrors.IsNotFound(err) {
		return func(s string) string { return s }
	} else if err != nil {
		w.Fatal(err)
	}
	if pool.Status.UserPoolID == "" {
		w.Fatalf("the user pool at rest has no ID: %+v", pool.Status)
	}
	pairs := []string{pool.Status.UserPoolID, "POOL"}
	for name, id := range pool.Status.ClientIDs {
		pairs = append(pairs, id, "CLIENT "+name)
	}
	ids := strings.NewReplacer(pairs...)
	return func(s string) string {
		return strayClient.ReplaceAllString(ids.Replace(s), "")
	}
}

// strayClient is an app client that no status records: names of clients are not unique, and one whose operator was stopped
// right after the create may stay until its pool is deleted (docs/sign-in.md).
var strayClient = regexp.MustCompile(`(?m)^\{"UserPoolClient":.*"ClientId":"[0-9a-z]+".*\n`)

// rested is the state once it stays as it is: an operator that was resumed may have something under way, and what an edit dropped is
// deleted after the capability runs without it.
func (w *walk) rested() map[string]string {
	w.Helper()
	was := w.state()
	w.Eventually(20*time.Second, w.c.Name+" to be at rest", func() error {
		time.Sleep(time.Second)
		now := w.state()
		d := w.differences(was, now)
		was = now
		if len(d) > 0 {
			return fmt.Errorf("%s", strings.Join(d, "\n"))
		}
		for _, o := range w.generated() {
			if o.GetDeletionTimestamp() != nil {
				return fmt.Errorf("%T %s is being deleted", o, o.GetName())
			}
		}
		return nil
	})
	return was
}

// differences compares the walked capability with one of the same spec that never walked.
func (w *walk) differences(walked, fresh map[string]string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(fresh)) {
		kind, name, _ := strings.Cut(k, " ")
		if !w.model.same(w.model.partOf(kind, name), walked[k], fresh[k]) {
			out = append(out, fmt.Sprintf("%s\nwalked %s\nfresh  %s", k, walked[k], fresh[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(walked)) {
		kind, name, _ := strings.Cut(k, " ")
		if _, ok := fresh[k]; !ok && !w.model.retained[w.model.partOf(kind, name)] {
			out = append(out, k+" exists after the walk and not after a fresh apply: "+walked[k])
		}
	}
	return out
}

// end settles, deletes the capability and compares what there was with a fresh capability of the same spec.
func (w *walk) end() {
	w.settle()
	for part := range partsOf(&w.c.Spec) {
		if _, there := w.stores()[part]; there {
			w.empty(part)
		}
	}
	walked, spec := w.rested(), w.c.Spec.DeepCopy()
	w.deleteAll(spec)
	w.again(spec)
	w.runs()
	if d := w.differences(walked, w.rested()); len(d) > 0 {
		w.Error(strings.Join(d, "\n"))
	}
	w.deleteAll(spec)
}

// deleteAll deletes the capability so that nothing stays of what it declares. Under Retain it is deleted twice: once to see
// that all stays, and once with Delete after it was created again.
func (w *walk) deleteAll(spec *nexusv1.NexusAICapabilitySpec) {
	if retains(spec) {
		w.delete()
		without := spec.DeepCopy()
		without.DeletionPolicy = nexusv1.DeletionDelete
		w.again(without)
		w.runs()
		w.model.settled(without)
	}
	w.delete()
}

func (w *walk) step() {
	all := slices.Concat(moves, shapeMoves, applicationMoves)
	m := all[w.rnd.IntN(len(all))]
	w.log = append(w.log, m.name)
	if detail := m.do(w); detail != "" {
		w.log[len(w.log)-1] += ": " + detail
	}
	time.Sleep(time.Duration(w.rnd.IntN(1200)) * time.Millisecond) // so that moves meet every stage of the last one
	w.judge()
}

// walkOf begins a walk. Every other one has its own provider, whose tags are edited too.
func walkOf(b *bed, other *otherOperator, seed uint64) *walk {
	c := b.small(fmt.Sprintf("walk%d", seed))
	w := &walk{bed: b, c: c, rnd: rand.New(rand.NewPCG(seed, 0)), model: newWalkModel(c.Name), other: other,
		cloud: cloud.New(b.World.AWS().URL()), sound: true}
	setStores(&c.Spec, []string{"one", "two"}, []string{"call-data"})
	c.Spec.DataServices.Glue = &nexusv1.GlueSpec{}
	if seed%3 == 1 {
		c.Spec.AI = &nexusv1.AISpec{VectorStores: []nexusv1.VectorStoreSpec{{Name: "knowledge",
			Indexes: []nexusv1.VectorIndexSpec{{Name: "passages", Dimension: 8}}}}}
	}
	if seed%2 == 0 {
		p := provider("aws")
		p.Namespace, p.Spec.PermissionsBoundaryARN = c.Namespace, boundary
		w.makeExisting(p)
		b.Create(p)
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "aws"}
	}
	w.valid, w.before = c.Spec.DeepCopy(), c.Spec.DeepCopy()
	b.Create(c)
	b.Cleanup(func() {
		if b.Failed() {
			b.Logf("NEXUS_SEED=%d NEXUS_WALKS=1 walks the same way:\n%s", seed, strings.Join(w.log, "\n"))
			for _, o := range w.generated() {
				if conditions := kit.ConditionsOf(o); len(conditions) > 0 {
					b.Logf("%T %s, deletion %v, finalizers %v, annotations %v: %+v", o, o.GetName(), o.GetDeletionTimestamp(), o.GetFinalizers(),
						o.GetAnnotations(), conditions)
				}
			}
		}
	})
	return w
}

// boundary is the permissions boundary without which no capability may use Bedrock.
const boundary = "arn:aws:iam::" + homeAccount + ":policy/nexus-boundary"

func numberOf(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Random moves of people, under one or two operators, of which one may be paused: valid edits, invalid ones, edits taken
// back, objects deleted by hand, the capability deleted at any moment and created again. No store with data disappears
// unless a person said so, each walk ends as a fresh apply of its last valid spec and can be deleted without residue.
// A full run (package extent) walks 12 seeds of 30 moves; NEXUS_WALKS, NEXUS_MOVES and NEXUS_SEED choose others.
func TestWalk_RandomEditsLoseNothingAndEndAsAFreshApply(t *testing.T) {
	extent.Full(t)
	walks, length := extent.Size(t, 1, 12), extent.Size(t, 10, 30)
	walks, length = numberOf("NEXUS_WALKS", walks), numberOf("NEXUS_MOVES", length)
	first := numberOf("NEXUS_SEED", 1)
	flags := []string{"--ambient-namespaces=walk*-dev", "--default-permissions-boundary=" + boundary, "--eks-cluster-name=" + eksCluster,
		aiTypes}
	b := newBed(t, flags...)
	controls := b.controls()
	b.makeEKSCluster()
	b.runAgent(nil)
	ekswebhook.Start(t, b.World, eksCluster)
	created, err := iam.NewFromConfig(b.admin(homeAccount)).CreatePolicy(b.Ctx(),
		&iam.CreatePolicyInput{PolicyName: aws.String("nexus-boundary"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)})
	must(b, created, err)
	b.World.AWS().SQS.SetQueueRest(2 * time.Second) // a walk cannot wait for a minute each time
	zoneID := b.zone("example.org").id
	other := &otherOperator{t: t, bed: b, flags: flags}
	defer other.stop()
	t.Run("walks", func(t *testing.T) {
		for i := range walks {
			t.Run(fmt.Sprint("seed-", first+i), func(t *testing.T) {
				t.Parallel()
				sub := *b
				sub.Bed = b.For(t)
				w := walkOf(&sub, other, uint64(first+i))
				w.zoneID, w.types = zoneID, controls
				w.log = append(w.log, "filled "+w.fill())
				for range length {
					w.step()
				}
				w.end()
				t.Log(strings.Join(w.log, "; "))
			})
		}
	})
}
