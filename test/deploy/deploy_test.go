// SPDX-License-Identifier: Apache-2.0

// Package deploy installs and removes the operator with nexusctl, in a control plane that has nothing of it.
package deploy

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	"github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/nexusctl"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	engine.Main()
	world.Main(m, world.Options{})
}

const (
	account = "123456789012"
	// operatorImage is the one that the tests install.
	operatorImage = account + ".dkr.ecr.ap-southeast-1.amazonaws.com/nexus-operator:v0.0.1"
	roleName      = "NexusAIOperatorRole"
)

// person is a user with every right and nexusctl, in a control plane without the operator.
type person struct {
	*bed.Bed
	aws *emulator.Endpoint
}

func newPerson(t *testing.T) *person {
	t.Helper()
	b := bed.Empty(t)
	aws, err := b.World.AWS().Listen("nexusctl-" + t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return &person{Bed: b, aws: aws}
}

// runs runs nexusctl.
func (x *person) runs(args ...string) nexusctl.Answer {
	x.Helper()
	return x.with([]string{"KUBECONFIG=" + x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}, args...)
}

// with runs nexusctl with variables.
func (x *person) with(env []string, args ...string) nexusctl.Answer {
	x.Helper()
	return nexusctl.Run(x, x.World, append([]string{"AWS_ENDPOINT_URL=" + x.aws.URL()}, env...), "", args...)
}

// writes returns the writes that nexusctl sent to AWS.
func (x *person) writes(since emulator.Mark) []string {
	var out []string
	for _, c := range x.World.AWS().Since(since).From(x.aws.Name()).Writes() {
		out = append(out, c.Action())
	}
	return out
}

func (x *person) config() aws.Config {
	return aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
}

func (x *person) ecr() *ecr.Client { return ecr.NewFromConfig(x.config()) }
func (x *person) iam() *iam.Client { return iam.NewFromConfig(x.config()) }

// provider is the ARN of the IAM OIDC provider of the cluster.
func provider() string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(world.DefaultIssuer, "https://")
}

func (x *person) withoutProvider() {
	x.Helper()
	if _, err := x.iam().DeleteOpenIDConnectProvider(x.Ctx(),
		&iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(provider())}); err != nil {
		x.Fatal(err)
	}
}

// trust is the trust policy of the operator's role.
func (x *person) trust() string {
	x.Helper()
	out, err := x.iam().GetRole(x.Ctx(), &iam.GetRoleInput{RoleName: aws.String(roleName)})
	if err != nil {
		x.Fatal(err)
	}
	text, err := url.PathUnescape(*out.Role.AssumeRolePolicyDocument)
	if err != nil {
		x.Fatal(err)
	}
	return text
}

func (x *person) wants(a nexusctl.Answer, code int, texts ...string) {
	x.Helper()
	a.Wants(x, code, texts...)
}

// push puts the operator's image into its repository.
func (x *person) push() {
	x.Helper()
	_, err := x.ecr().PutImage(x.Ctx(), &ecr.PutImageInput{RepositoryName: aws.String("nexus-operator"), ImageTag: aws.String("v0.0.1"),
		ImageManifest: aws.String(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":2,"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"layers":[]}`)})
	if err != nil {
		x.Fatal(err)
	}
}

// everything are the names of what an installation may have in a cluster and in AWS.
func (x *person) everything() map[string]bool {
	x.Helper()
	out := map[string]bool{}
	for _, list := range []client.ObjectList{&corev1.NamespaceList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{},
		definitionList()} {
		if err := x.Client.List(x.Ctx(), list); err != nil {
			x.Fatal(err)
		}
		switch l := list.(type) {
		case *corev1.NamespaceList:
			for _, o := range l.Items {
				if strings.HasPrefix(o.Name, "nexus-") { // those of other tests come and go
					out["namespace "+o.Name] = true
				}
			}
		case *rbacv1.ClusterRoleList:
			for _, o := range l.Items {
				out["clusterrole "+o.Name] = true
			}
		case *unstructured.UnstructuredList:
			for _, o := range l.Items {
				out["definition "+o.GetName()] = true
			}
		case *rbacv1.ClusterRoleBindingList:
			for _, o := range l.Items {
				out["clusterrolebinding "+o.Name] = true
			}
		}
	}
	roles, err := x.iam().ListRoles(x.Ctx(), &iam.ListRolesInput{})
	if err != nil {
		x.Fatal(err)
	}
	for _, r := range roles.Roles {
		out["role "+*r.RoleName] = true
	}
	policies, err := x.iam().ListPolicies(x.Ctx(), &iam.ListPoliciesInput{Scope: "Local"})
	if err != nil {
		x.Fatal(err)
	}
	for _, p := range policies.Policies {
		out["policy "+*p.PolicyName] = true
	}
	providers, err := x.iam().ListOpenIDConnectProviders(x.Ctx(), &iam.ListOpenIDConnectProvidersInput{})
	if err != nil {
		x.Fatal(err)
	}
	for _, p := range providers.OpenIDConnectProviderList {
		out["provider "+*p.Arn] = true
	}
	repositories, err := x.ecr().DescribeRepositories(x.Ctx(), &ecr.DescribeRepositoriesInput{})
	if err != nil {
		x.Fatal(err)
	}
	for _, r := range repositories.Repositories {
		out["repository "+*r.RepositoryName] = true
	}
	return out
}

func definitionList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apiextensions.k8s.io/v1")
	list.SetKind("CustomResourceDefinitionList")
	return list
}

func (x *person) sameAs(before map[string]bool) {
	x.Helper()
	x.Eventually(2*time.Minute, "everything to be as before", func() error {
		if now := x.everything(); !maps.Equal(before, now) {
			return errorDiffers(before, now)
		}
		return nil
	})
}

type differs string

func (d differs) Error() string { return string(d) }

func errorDiffers(before, now map[string]bool) error {
	var text []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !now[name] {
			text = append(text, "gone: "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if !before[name] {
			text = append(text, "left: "+name)
		}
	}
	return differs(strings.Join(text, ", "))
}

// deployed installs the operator, and removes it after the test.
func (x *person) deployed(args ...string) {
	x.Helper()
	x.Cleanup(func() { // whatever the test left
		x.runs("delete", "--full", "--yes", "--timeout", "2m")
	})
	x.wants(x.runs(append([]string{"deploy", "--image", operatorImage}, args...)...), 4, "the image "+operatorImage+" is not there: push it")
	x.push()
	x.wants(x.runs(append([]string{"deploy", "--image", operatorImage}, args...)...), 0, "The operator in namespace nexus-system is ready")
}

// A whole installation: a dry run, an image that was not pushed yet, the installation, a second run that does nothing, an upgrade, and
// the removal with all that it made, and nothing else.
func TestDeploy_InstallsOnceAndIsRemovedWhole(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	x.withoutProvider() // which every world has
	before := x.everything()
	start := x.World.AWS().Mark()
	mark := start
	x.wants(x.runs("deploy", "--image", operatorImage, "--dry-run"), 0, "would: create the role of the operator",
		"would: create the image repository",
		"would: create the IAM OIDC provider", "Deployment nexus-system/nexus-operator", "is not there yet")
	if w := x.writes(mark); len(w) > 0 {
		t.Errorf("a dry run wrote %v", w)
	}
	if diff := errorDiffers(before, x.everything()).Error(); diff != "" {
		t.Errorf("a dry run changed something: %s", diff)
	}

	const scanned = "the operator's image is in the account's registry"
	x.wants(x.runs("scan", "--only", "image", "--image", operatorImage), 0, "WARN image "+scanned, "the repository does not exist")
	x.deployed()
	x.wants(x.runs("scan", "--only", "image", "--image", operatorImage), 0, "PASS image "+scanned)
	x.wants(x.runs("scan", "--only", "image", "--image", operatorImage+"-other"), 0, "WARN image "+scanned, "was not pushed yet")
	x.wants(x.runs("scan", "--only", "image"), 0, "SKIP image "+scanned, "without a version")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	sa := &corev1.ServiceAccount{ObjectMeta: d.ObjectMeta}
	for _, o := range []client.Object{d, sa} {
		if err := x.Get(o); err != nil {
			t.Fatal(err)
		}
	}
	role := "arn:aws:iam::" + account + ":role/NexusAIOperatorRole"
	if got := d.Spec.Template.Spec.Containers[0].Image; got != operatorImage || sa.Annotations["eks.amazonaws.com/role-arn"] != role {
		t.Errorf("image %s, annotations %v", got, sa.Annotations)
	}
	if trust := x.trust(); !strings.Contains(trust, "system:serviceaccount:nexus-system:nexus-operator") ||
		!strings.Contains(trust, provider()) {
		t.Errorf("the trust policy is %s", trust)
	}
	attached, err := x.iam().ListAttachedRolePolicies(x.Ctx(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(roleName)})
	if err != nil || len(attached.AttachedPolicies) < 2 {
		t.Errorf("attached policies: %+v %v", attached, err)
	}

	mark = x.World.AWS().Mark()
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "The installation is unchanged.")
	if w := x.writes(mark); len(w) > 0 {
		t.Errorf("a second run wrote %v", w)
	}
	if was := d.ResourceVersion; x.Get(d) != nil || d.Generation != 1 {
		t.Errorf("a second run changed the Deployment: %s, now %s, generation %d", was, d.ResourceVersion, d.Generation)
	}

	x.wants(x.runs("deploy", "--image", operatorImage, "--name-prefix", "team-", "--operator-arg=--capability-namespaces=team-*",
		"--operator-arg=--types=AWS::Kinesis::*", "--replicas", "1"), 0,
		"+ - --capability-namespaces=team-*", "replace the policy", ":table/team-*", "kinesis:CreateStream", ":stream/team-*",
		"AWS::Kinesis::Stream: the policy does not limit")
	if err := x.Get(d); err != nil || *d.Spec.Replicas != 1 ||
		!slices.Contains(d.Spec.Template.Spec.Containers[0].Args, "--capability-namespaces=team-*") {
		t.Errorf("%+v %v", d.Spec, err)
	}

	x.leavesFieldsOfOthers(d)
	x.wants(x.runs("delete"), 2, "add --yes")
	x.wants(x.runs("delete", "--full", "--dry-run"), 0, "would: delete the role", "would: delete the image repository with its images",
		"Namespace nexus-system")
	x.wants(x.runs("delete", "--yes"), 0, "The operator was removed.")
	if err := x.Get(d); !apierrors.IsNotFound(err) {
		t.Errorf("the Deployment is there: %v", err)
	}
	x.trust() // it stays, and so does the ledger
	x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
	x.usesOnlyTheRightsOfInstallers(start)
	x.sameAs(before)
	x.wants(x.runs("delete", "--full", "--yes"), 4, "there is no ConfigMap nexus-system/nexus-install-state")
}

// leavesFieldsOfOthers has another tool set a field, and Helm claim the Deployment.
func (x *person) leavesFieldsOfOthers(d *appsv1.Deployment) {
	x.Helper()
	if err := x.Client.Patch(x.Ctx(), d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":3}}`)),
		client.FieldOwner("scaler")); err != nil {
		x.Fatal(err)
	}
	x.wants(x.runs("deploy", "--image", operatorImage), 4, `conflict with "scaler"`, ".spec.replicas", "--force-conflicts")
	x.wants(x.runs("deploy", "--image", operatorImage, "--force-conflicts"), 0, "is ready")
	if err := x.Get(d); err != nil || *d.Spec.Replicas != 2 {
		x.Errorf("%v %v", d.Spec.Replicas, err)
	}
	x.Edit(d, func() { d.Annotations = map[string]string{"meta.helm.sh/release-name": "platform"} })
	x.wants(x.runs("deploy", "--image", operatorImage), 4, "was installed by Helm, as release platform")
	x.Edit(d, func() { delete(d.Annotations, "meta.helm.sh/release-name") })
}

// usesOnlyTheRightsOfInstallers compares what nexusctl asked AWS for with the policy that it prints for who installs.
func (x *person) usesOnlyTheRightsOfInstallers(since emulator.Mark) {
	x.Helper()
	documents, err := permissions.Installer(permissions.Scope{Repository: "nexus-operator", Role: roleName, DriftQueue: "nexus-drift-events"})
	if err != nil {
		x.Fatal(err)
	}
	granted := map[string]bool{"sts:GetCallerIdentity": true} // which needs no right
	for _, document := range documents {
		for _, s := range document.Statement {
			for _, action := range s.Action {
				granted[action] = true
			}
		}
	}
	calls := x.World.AWS().Since(since).From(x.aws.Name())
	if len(calls) < 20 {
		x.Errorf("only %d calls", len(calls))
	}
	for _, c := range calls {
		if !granted[c.Action()] {
			x.Errorf("nexusctl iam policy installer does not grant %s", c.Action())
			granted[c.Action()] = true
		}
	}
}

// What others made stays: the provider, the repository, and what another person put into the namespace.
func TestDelete_LeavesWhatOthersMade(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	if _, err := x.ecr().CreateRepository(x.Ctx(), &ecr.CreateRepositoryInput{RepositoryName: aws.String("nexus-operator")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = x.ecr().DeleteRepository(context.Background(),
			&ecr.DeleteRepositoryInput{RepositoryName: aws.String("nexus-operator"), Force: true})
	})
	existing := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator-view"}}
	x.Create(existing)
	t.Cleanup(func() { _ = x.Client.Delete(context.Background(), existing) })
	x.push()
	before := x.everything()
	t.Cleanup(func() { x.runs("delete", "--full", "--yes", "--timeout", "2m") })
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "is ready")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "somebodys"}}
	x.Create(secret)
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: wellknown.SigningKeySecret,
		Labels: map[string]string{"app.kubernetes.io/name": "nexus-operator"}}}
	x.Create(key) // as the operator does when a record of Route 53 or a capability needs it
	x.wants(x.runs("delete", "--full", "--yes"), 0, "namespace nexus-system stays: others use it (Secret nexus-system/somebodys)")
	if err := x.Client.Get(x.Ctx(), client.ObjectKeyFromObject(key), key); !apierrors.IsNotFound(err) {
		t.Errorf("the signing key of the operator is left in a namespace of others: %v", err)
	}
	before["namespace nexus-system"] = true
	x.sameAs(before)
	if err := x.Client.Delete(x.Ctx(), secret); err != nil {
		t.Fatal(err)
	}
	x.wants(x.runs("delete", "--full", "--yes"), 0)
	delete(before, "namespace nexus-system")
	x.sameAs(before)
}

// The record and the tags must both say that nexusctl made something: each of them alone proves nothing.
func TestDelete_NeedsTwoProofs(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	x.deployed()
	if _, err := x.iam().UntagRole(x.Ctx(),
		&iam.UntagRoleInput{RoleName: aws.String(roleName), TagKeys: []string{"nexus.ai/cluster"}}); err != nil {
		t.Fatal(err)
	}
	x.wants(x.runs("deploy", "--image", operatorImage), 4, "was not created by nexusctl for this cluster", "--role-arn")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator-edit"}}
	if err := x.Client.Delete(x.Ctx(), role); err != nil { // and a person creates another of its name
		t.Fatal(err)
	}
	again := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role.Name}}
	x.Create(again)
	t.Cleanup(func() { _ = x.Client.Delete(context.Background(), again) })
	x.wants(x.runs("delete", "--full", "--yes"), 0, "leave it: its tags do not say that nexusctl created it for this cluster",
		"leave it: it is attached to roles or users that stay")
	x.trust()
	if err := x.Get(again); err != nil {
		t.Errorf("the ClusterRole that somebody else created: %v", err)
	}
	policies, err := x.iam().ListAttachedRolePolicies(x.Ctx(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(roleName)})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies.AttachedPolicies {
		if _, err := x.iam().DetachRolePolicy(x.Ctx(),
			&iam.DetachRolePolicyInput{RoleName: aws.String(roleName), PolicyArn: p.PolicyArn}); err != nil {
			t.Error(err)
		}
		if _, err := x.iam().DeletePolicy(x.Ctx(), &iam.DeletePolicyInput{PolicyArn: p.PolicyArn}); err != nil {
			t.Error(err)
		}
	}
	if _, err := x.iam().DeleteRole(x.Ctx(), &iam.DeleteRoleInput{RoleName: aws.String(roleName)}); err != nil {
		t.Error(err)
	}
}

// The installed operator deletes what it made before it goes itself.
func TestDelete_RefusesWhileObjectsNeedTheOperator(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	x.deployed("--operator-arg=--capability-namespaces=myapp-*", "--operator-arg=--health-probe-bind-address=0",
		"--operator-arg=--metrics-bind-address=0")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	if err := x.Get(d); err != nil {
		t.Fatal(err)
	}
	x.MakeNamespace("myapp-dev")
	x.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "myapp-dev", Name: "nexus-operator-secrets"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nexus-operator-secrets"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "nexus-system", Name: "nexus-operator"}}}) // as docs/rbac.md says
	x.Op = operator.FromDeployment(t, x.World, d)
	c := x.Capability("examples/test-capability.yaml")
	x.Create(c)
	x.Running(c)
	x.wants(x.runs("delete", "--yes"), 4, "there that only the operator can delete", "NexusAICapability myapp-dev/"+c.Name)
	x.wants(x.runs("delete", "--yes", "--full", "--cascade", "orphan"), 2, "--cascade=orphan does not go with --full")
	x.Op.Stop() // fails when a right was missing
	x.wants(x.runs("delete", "--yes", "--cascade", "orphan"), 0, "The operator was removed.")
	if err := x.Get(c); err != nil || c.DeletionTimestamp != nil {
		t.Errorf("the capability: %v %v", c.DeletionTimestamp, err)
	}
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "is ready") // and is installed again
	x.Op = operator.FromDeployment(t, x.World, d)
	ended := x.endsWithItsPods(d)
	x.wants(x.runs("delete", "--yes", "--full", "--cascade", "delete"), 0, "NexusAICapability myapp-dev/"+c.Name+": deletion requested",
		"The operator was removed.")
	<-ended
	x.sameAs(before)
}

// endsWithItsPods ends the operator when its Deployment is gone, as the kubelet does. The channel is closed then.
func (x *person) endsWithItsPods(d *appsv1.Deployment) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if err := x.Get(d.DeepCopy()); apierrors.IsNotFound(err) || x.Context().Err() != nil {
				x.Op.Kill()
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return ended
}

// A crash between the record and the object, or after the object, is completed by the next run.
func TestDeploy_GoesOnAfterAFailure(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	x.World.AWS().Fault(emulator.Match{Service: "iam", Op: "AttachRolePolicy", Times: 1}, emulator.Fail(403, "AccessDenied", "not allowed"))
	x.wants(x.runs("deploy", "--image", operatorImage), 4, "iam:AttachRolePolicy", "run the command again to go on")
	x.deployed()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-install-state"}}
	if err := x.Get(cm); err != nil {
		t.Fatal(err)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nexus-system", Name: "nexus-operator"}}
	if err := x.Get(d); err != nil {
		t.Fatal(err)
	}
	state := strings.Replace(cm.Data["state.json"], string(d.UID), "", 1) // as if nexusctl had ended before the answer
	if state == cm.Data["state.json"] {
		t.Fatalf("the Deployment is not recorded:\n%s", state)
	}
	x.Edit(cm, func() { cm.Data["state.json"] = strings.Replace(state, "v1alpha1", "v9", 1) })
	x.wants(x.runs("delete", "--full", "--yes"), 1, `its version is "install.nexus.ai/v9"`, "use the nexusctl that wrote it")
	x.Edit(cm, func() { cm.Data["state.json"] = state })
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "record as created here")
	x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
	x.sameAs(before)
}

// build comes before deploy, and so creates the repository before there is a ledger.
func TestDeploy_RecordsTheRepositoryThatBuildCreated(t *testing.T) {
	extent.Full(t)
	x := newPerson(t)
	before := x.everything()
	r := registry.StartECR(t, account, x.config())
	t.Cleanup(func() { x.runs("delete", "--full", "--yes", "--timeout", "2m") })
	env := append(r.Env(), "KUBECONFIG="+x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a")
	start := x.World.AWS().Mark()
	x.wants(x.with(env, "build", "operator", "--binary", "amd64="+operatorBinary(t), "--release", "v0.0.1"), 0, "pushed: "+operatorImage)
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "record as created here", "is ready")
	x.wants(x.runs("deploy", "--image", operatorImage), 0, "The installation is unchanged.")
	x.wants(x.runs("delete", "--full", "--yes"), 0, "The operator was removed.")
	x.usesOnlyTheRightsOfInstallers(start)
	x.sameAs(before)
}

func TestDeploy_WithoutAWS(t *testing.T) {
	x := newPerson(t)
	const elsewhere, role = "registry.example.com/nexus-operator:v1", "arn:aws:iam::" + account + ":role/mine"
	mark := x.World.AWS().Mark()
	a := x.runs("deploy", "--export", "--image", elsewhere, "--role-arn", role)
	x.wants(a, 0, "image: "+elsewhere, "eks.amazonaws.com/role-arn: "+role, "kind: CustomResourceDefinition")
	if calls := x.World.AWS().Since(mark).From(x.aws.Name()); len(calls) > 0 {
		t.Errorf("AWS was called:\n%s", calls)
	}
	x.wants(x.runs("deploy"), 2, "--image")
	x.wants(x.runs("deploy", "--image", elsewhere, "--replicas", "0"), 2, "--replicas")
	x.wants(x.runs("deploy", "--image", elsewhere, "--operator-arg=--no-such"), 2, "no-such")
	x.wants(x.runs("deploy", "--operator-namespace", "ops", "--image", elsewhere), 2, "use the chart")
	x.wants(x.with([]string{"KUBECONFIG=/nonexistent"}, "deploy", "--image", elsewhere), 4)
	x.wants(x.with([]string{"KUBECONFIG=/nonexistent"}, "delete", "--yes"), 4)
	x.wants(x.runs("delete", "--yes", "--cascade", "x"), 2, "--cascade")
}
