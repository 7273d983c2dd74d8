// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

const (
	// tokenAudience is the audience that IAM OIDC providers of EKS clusters accept.
	tokenAudience = "sts.amazonaws.com"
	// proofSeconds is the lifetime of the token and the session of the proof: the shortest that Kubernetes and STS give.
	tokenSeconds, sessionSeconds = 600, 900
	// proofSession is the session's name, which CloudTrail shows.
	proofSession = "nexusctl-verify"
)

// checkIdentity checks that the application gets its role, and the rights of the role. With EKS Pod Identity only EKS can assume the role.
func (v *verifier) checkIdentity(ctx context.Context) error {
	if err := v.checkCredentialsInPods(); err != nil {
		return err
	}
	if s := v.subject.Status.Identity; s != nil && s.Mode == nexusv1.IdentityPodIdentity {
		return v.add(check.Skip("the application's role can be assumed",
			"only EKS assumes the role, for pods with the EKS Pod Identity Agent: see the condition IdentityReady, and run the application's reads in a pod"))
	}
	return (&proof{v}).checkToken(ctx)
}

// proof acts as the application, to prove the rights of its role.
type proof struct{ *verifier }

// checkToken acts as the application does, with each of its ServiceAccounts.
func (v *proof) checkToken(ctx context.Context) error {
	for _, name := range capability.ServiceAccounts(v.subject) {
		if err := v.checkTokenOf(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// checkTokenOf assumes the role of a ServiceAccount with its token, and makes one read of each declared service that the access of its
// components names, and calls that must be denied.
func (v *proof) checkTokenOf(ctx context.Context, name string) error {
	title := "ServiceAccount/" + name + " gets a token for AWS"
	sa := &corev1.ServiceAccount{}
	if ok, err := v.get(ctx, sa, name, title); err != nil || !ok {
		return err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{tokenAudience},
		ExpirationSeconds: new(int64(tokenSeconds))}}
	err := v.client.SubResource("token").Create(ctx, sa, request)
	if apierrors.IsForbidden(err) {
		return v.add(check.Lacks(title, err.Error(), "ask for the right to create serviceaccounts/token in namespace "+sa.Namespace))
	}
	if err != nil {
		return err
	}
	if err := v.add(check.Pass(title, "audience "+tokenAudience)); err != nil {
		return err
	}
	app, err := v.assumeRole(ctx, sa, request.Status.Token)
	if err != nil || app == nil {
		return err
	}
	allowed, denied, err := v.readsOf(ctx, name)
	if err != nil {
		return err
	}
	if err := v.checkAllowedReads(ctx, *app, allowed); err != nil {
		return err
	}
	return v.checkDenied(ctx, *app, denied)
}

// checkCredentialsInPods repeats the operator's observation of the pods: they may have credentials of another kind.
func (v *verifier) checkCredentialsInPods() error {
	const title = "the pods are given the role's credentials"
	c := meta.FindStatusCondition(v.subject.Status.Conditions, nexusv1.ConditionCredentialsInPods)
	switch {
	case c == nil:
		return v.add(check.Skip(title, "the operator has not reported it"))
	case c.Status == metav1.ConditionTrue:
		return v.add(check.Pass(title, ""))
	default:
		return v.add(check.Warn(title, c.Reason+console.Prefixed(": ", c.Message), v.credentialsRemedy()+"kubectl rollout restart deployment -n "+
			v.workloadKey("").Namespace).FollowsIf(inspect.NeedsAnother(c.Reason)))
	}
}

// credentialsRemedy returns the steps before a restart of the pods: EKS runs the webhook for EKS Pod Identity itself.
func (v *verifier) credentialsRemedy() string {
	if s := v.subject.Status.Identity; s != nil && s.Mode == nexusv1.IdentityPodIdentity {
		return ""
	}
	return "install the EKS pod identity webhook, then "
}

// applicationConfig is the way to AWS of the capability's provider, without credentials.
func (v *proof) applicationConfig(ctx context.Context) (aws.Config, error) {
	cfg, err := v.Ambient(ctx)
	if err != nil {
		return cfg, fmt.Errorf("reading the AWS configuration: %w", err)
	}
	p := &v1alpha1.AWSProvider{}
	key := client.ObjectKey{Namespace: v.subject.Namespace, Name: capability.ProviderName(v.subject)}
	if err := v.client.Get(ctx, key, p); err != nil {
		return cfg, fmt.Errorf("reading AWSProvider %s: %w", key, err)
	}
	cfg.Region, cfg.Credentials = cmp.Or(p.Spec.Region, v.subject.Status.Region, cfg.Region), aws.AnonymousCredentials{}
	if p.Spec.Endpoint != "" {
		cfg.BaseEndpoint, cfg.ConfigSources = aws.String(p.Spec.Endpoint), nil
	}
	return cfg, nil
}

// assumeRole exchanges the token for credentials of the role that the ServiceAccount names; nil when the check failed.
func (v *proof) assumeRole(ctx context.Context, sa *corev1.ServiceAccount, token string) (*aws.Config, error) {
	arn := sa.Annotations[capability.AnnotationRoleARN]
	title := "the application's role can be assumed with the token"
	fix := "nexusctl plan ncap/" + v.subject.Name + " -n " + v.subject.Namespace +
		" shows whether the role's trust policy is as declared; the IAM OIDC provider must be that of this cluster"
	if arn == "" {
		return nil, v.add(check.Fail(title, "the annotation "+capability.AnnotationRoleARN+" is missing",
			"check that the operator runs: it sets the annotation").Follows())
	}
	cfg, err := v.applicationConfig(ctx)
	if err != nil {
		return nil, err
	}
	out, err := sts.NewFromConfig(cfg).AssumeRoleWithWebIdentity(ctx,
		&sts.AssumeRoleWithWebIdentityInput{RoleArn: &arn, RoleSessionName: aws.String(proofSession),
			WebIdentityToken: &token, DurationSeconds: aws.Int32(sessionSeconds)})
	if err != nil {
		return nil, v.add(check.Fail(title, arn+": "+refusalText(err), fix))
	}
	cfg.Credentials = credentials.NewStaticCredentialsProvider(aws.ToString(out.Credentials.AccessKeyId),
		aws.ToString(out.Credentials.SecretAccessKey), aws.ToString(out.Credentials.SessionToken))
	return &cfg, v.add(check.Pass(title, arn))
}

// refusalText returns AWS's message, without request ids and credentials.
func refusalText(err error) string {
	switch f := awsclient.Classify(err); {
	case f.Code != "":
		return f.Code + console.Prefixed(": ", f.Message)
	case f.Status > 0:
		return fmt.Sprintf("HTTP status %d", f.Status)
	default:
		return awsclient.ExplainOnce(err, "").Error()
	}
}

// storeRead is a read that a role of the application allows or denies.
type storeRead struct {
	// action is that of IAM, and resource the resource that is read.
	action, resource string
	call             func(ctx context.Context, cfg aws.Config) error
}

// checkAllowedReads makes reads that the role must allow.
func (v *proof) checkAllowedReads(ctx context.Context, cfg aws.Config, reads []storeRead) error {
	for _, r := range reads {
		title := "the role allows " + r.action + " on " + r.resource
		result := check.Pass(title, "")
		if err := r.call(ctx, cfg); err != nil {
			result = check.Fail(title, refusalText(err), "nexusctl plan ncap/"+v.subject.Name+" -n "+v.subject.Namespace+
				" shows whether the role's policy is as declared; policies of the organization and boundaries count too")
		}
		if err := v.add(result); err != nil {
			return err
		}
	}
	return nil
}

// readable are the kinds of the resources that are read, with their lists.
var readable = []struct {
	kind string
	list func() client.ObjectList
}{
	{"DynamoDBTable", func() client.ObjectList { return &v1alpha1.DynamoDBTableList{} }},
	{"S3Bucket", func() client.ObjectList { return &v1alpha1.S3BucketList{} }},
	{"GlueDatabase", func() client.ObjectList { return &v1alpha1.GlueDatabaseList{} }},
	{"SSMParameterSet", func() client.ObjectList { return &v1alpha1.SSMParameterSetList{} }},
	{"SecretsManagerSecret", func() client.ObjectList { return &v1alpha1.SecretsManagerSecretList{} }},
}

// readsOf finds, of each kind that the capability owns objects of, the first resource that a ServiceAccount may use, and the first that it
// may not use. Parameters count for a role without limits alone: others may read the parameters of the resources that they may use.
func (v *proof) readsOf(ctx context.Context, serviceAccount string) (allowed, denied []storeRead, err error) {
	all := serviceAccount == capability.NamesOf(v.subject).ServiceAccount()
	for _, r := range readable {
		owned, err := v.owned(ctx, r.list())
		if err != nil {
			return nil, nil, err
		}
		_, isParameters := r.list().(*v1alpha1.SSMParameterSetList)
		if isParameters && !all {
			continue
		}
		may := func(o client.Object) bool {
			return isParameters || capability.MayUse(v.subject, serviceAccount, r.kind, o.GetName())
		}
		allowed = appendFirst(allowed, owned, may)
		denied = appendFirst(denied, owned, func(o client.Object) bool { return !may(o) })
	}
	return allowed, denied, nil
}

// appendFirst appends the read of the first object with a property.
func appendFirst(reads []storeRead, objs []client.Object, has func(client.Object) bool) []storeRead {
	if i := slices.IndexFunc(objs, has); i >= 0 {
		if r := readOf(objs[i]); r.call != nil {
			return append(reads, r)
		}
	}
	return reads
}

// owned returns the objects of a list that the capability controls, by their names.
func (v *proof) owned(ctx context.Context, l client.ObjectList) ([]client.Object, error) {
	if err := v.client.List(ctx, l, client.InNamespace(v.subject.Namespace)); err != nil {
		return nil, err
	}
	var out []client.Object
	err := meta.EachListItem(l, func(o runtime.Object) error {
		if c := o.(client.Object); metav1.IsControlledBy(c, v.subject) {
			out = append(out, c)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b client.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out, err
}

// readOf is the read of the resource of an object. None returns data that an application stores.
func readOf(o client.Object) storeRead {
	switch o := o.(type) {
	case *v1alpha1.DynamoDBTable:
		return storeRead{"dynamodb:DescribeTable", "table " + o.Spec.TableName, func(ctx context.Context, cfg aws.Config) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &o.Spec.TableName})
			return err
		}}
	case *v1alpha1.S3Bucket:
		return storeRead{"s3:GetBucketLocation", "bucket " + o.Spec.BucketName, func(ctx context.Context, cfg aws.Config) error {
			_, err := s3.NewFromConfig(cfg).GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: &o.Spec.BucketName})
			return err
		}}
	case *v1alpha1.GlueDatabase:
		return storeRead{"glue:GetDatabase", "database " + o.Spec.DatabaseName, func(ctx context.Context, cfg aws.Config) error {
			_, err := glue.NewFromConfig(cfg).GetDatabase(ctx, &glue.GetDatabaseInput{Name: &o.Spec.DatabaseName})
			return err
		}}
	case *v1alpha1.SSMParameterSet:
		if len(o.Status.ManagedNames) == 0 {
			return storeRead{}
		}
		name := o.Spec.Path + "/" + slices.Min(o.Status.ManagedNames)
		return storeRead{"ssm:GetParameter", "parameter " + name, func(ctx context.Context, cfg aws.Config) error {
			_, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
			return err
		}}
	case *v1alpha1.SecretsManagerSecret:
		return storeRead{"secretsmanager:DescribeSecret", "secret " + o.Spec.SecretName, func(ctx context.Context, cfg aws.Config) error {
			_, err := secretsmanager.NewFromConfig(cfg).DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &o.Spec.SecretName})
			return err
		}}
	default:
		return storeRead{}
	}
}

// checkDenied makes a call that no capability can declare, since actions of IAM are refused in extra policy statements, and reads of
// resources that the access of the components does not name.
func (v *proof) checkDenied(ctx context.Context, cfg aws.Config, reads []storeRead) error {
	listRoles := func(ctx context.Context, cfg aws.Config) error {
		_, err := iam.NewFromConfig(cfg).ListRoles(ctx, &iam.ListRolesInput{MaxItems: aws.Int32(1)})
		return err
	}
	if err := v.checkDenies(ctx, cfg, "the role denies iam:ListRoles, which is not declared", "the role may list the roles of the account",
		listRoles); err != nil {
		return err
	}
	for _, r := range reads {
		title := "the role denies " + r.action + " on " + r.resource + ", which its access does not name"
		if err := v.checkDenies(ctx, cfg, title, "the role may use what its access does not name", r.call); err != nil {
			return err
		}
	}
	return nil
}

// checkDenies makes a call that the role must deny.
func (v *proof) checkDenies(ctx context.Context, cfg aws.Config, title, allowed string,
	call func(context.Context, aws.Config) error) error {
	err := call(ctx, cfg)
	switch {
	case awsclient.Is(err, awsclient.Denied):
		return v.add(check.Pass(title, refusalText(err)))
	case err != nil:
		return v.add(check.Fail(title, "the call failed for another reason: "+refusalText(err), "run the command again"))
	case v.acceptsAnybody(ctx, cfg):
		return v.add(check.Warn(title, "the AWS endpoint does not enforce IAM: it answers requests with made-up credentials",
			"check it against AWS, or an emulator that enforces IAM"))
	default:
		return v.add(check.Fail(title, allowed,
			"remove what was attached to the role beside the operator's policies: the operator does so at its next check"))
	}
}

// acceptsAnybody reports whether the endpoint answers requests that are signed with credentials which do not exist: then
// its answers prove nothing about rights.
func (v *proof) acceptsAnybody(ctx context.Context, cfg aws.Config) bool {
	cfg.Credentials = credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "made-up", "")
	_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	return err == nil
}
