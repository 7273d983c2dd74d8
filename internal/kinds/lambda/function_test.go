// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name   = "resize"
	stored = "team-resize"
	of     = kindtest.Region + ":" + kindtest.Account
	roles  = "arn:aws:iam::" + kindtest.Account + ":role/"
	alias  = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":alias/"
	image  = kindtest.Account + ".dkr.ecr." + kindtest.Region + ".amazonaws.com/team/resize:"
	bucket = "team-code"
	key    = "arn:aws:kms:" + of + ":key/"
	queue  = "arn:aws:sqs:" + of + ":failed"
	topic  = "arn:aws:sns:" + of + ":failed"

	create       = "lambda:CreateFunction"
	updateCode   = "lambda:UpdateFunctionCode"
	configure    = "lambda:UpdateFunctionConfiguration"
	reserve      = "lambda:PutFunctionConcurrency"
	dropReserved = "lambda:DeleteFunctionConcurrency"
	tag          = "lambda:TagResource"
	untag        = "lambda:UntagResource"
	removeWhole  = "lambda:DeleteFunction"
)

type (
	spec = v1alpha1.LambdaFunctionSpec
	edit = func(s *spec)
)

// functionOf returns a function from an image.
func functionOf(edits ...edit) *v1alpha1.LambdaFunction {
	o := &v1alpha1.LambdaFunction{}
	o.Name = name
	o.Spec = spec{FunctionName: stored, RoleRef: &v1alpha1.ObjectReference{Name: "worker"}, Code: &v1alpha1.LambdaCode{ImageURI: image + "v1"}}
	for _, e := range edits {
		e(&o.Spec)
	}
	return o
}

// zipped declares code in S3.
func zipped(key string) edit {
	return func(s *spec) {
		s.Code, s.Runtime, s.Handler = &v1alpha1.LambdaCode{S3Bucket: bucket, S3Key: key}, "python3.13", "index.handler"
	}
}

func imaged(tag string) edit {
	return func(s *spec) { s.Code = &v1alpha1.LambdaCode{ImageURI: image + tag} }
}

func ref(name string) edit {
	return func(s *spec) { s.RoleRef = &v1alpha1.ObjectReference{Name: name} }
}

func sized(memory, timeout int32) edit {
	return func(s *spec) { s.MemorySize, s.Timeout = &memory, &timeout }
}

func described(text string) edit { return func(s *spec) { s.Description = &text } }

func runs(architecture string) edit {
	return func(s *spec) { s.Architectures = []string{architecture} }
}

func variables(pairs ...v1alpha1.LambdaVariable) edit {
	return func(s *spec) {
		s.Environment = &v1alpha1.LambdaEnvironment{}
		for i := 0; i < len(pairs); i += 2 {
			if s.Environment.Variables == nil {
				s.Environment.Variables = map[string]v1alpha1.LambdaVariable{}
			}
			s.Environment.Variables[string(pairs[i])] = pairs[i+1]
		}
	}
}

func reaches(subnets, groups []string) edit {
	return func(s *spec) { s.VPCConfig = &v1alpha1.LambdaVPCConfig{SubnetIDs: subnets, SecurityGroupIDs: groups} }
}

func deadLetters(in v1alpha1.LambdaDeadLetterConfig) edit {
	return func(s *spec) { s.DeadLetterConfig = &in }
}

func deadLettersTo(arn string) edit {
	return deadLetters(v1alpha1.LambdaDeadLetterConfig{TargetARN: &arn})
}

func traced(mode string) edit {
	return func(s *spec) { s.TracingConfig = &v1alpha1.LambdaTracingConfig{Mode: mode} }
}

func reserved(n int32) edit { return func(s *spec) { s.ReservedConcurrentExecutions = &n } }

func stores(mib int32) edit {
	return func(s *spec) { s.EphemeralStorage = &v1alpha1.LambdaEphemeralStorage{Size: mib} }
}

func started(in v1alpha1.LambdaImageConfig) edit { return func(s *spec) { s.ImageConfig = &in } }

func encrypted(arn string) edit { return func(s *spec) { s.KMSKeyARN = &arn } }

func layers(arns ...string) edit {
	return func(s *spec) { s.Layers = kind.Ptr(append([]string{}, arns...)) }
}

func tagged(k, v string) edit {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) edit { return func(s *spec) { s.DeletionPolicy = p } }

func api(r *kindtest.Rig) *lambda.Client { return lambda.NewFromConfig(r.Config) }

// parents makes two roles, two archives and a layer.
func parents(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	for _, name := range []string{"worker", "other"} {
		_, err := iam.NewFromConfig(r.Config).CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name,
			AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)})
		kindtest.Must(t, err)
	}
	objects := s3.NewFromConfig(r.Config, func(o *s3.Options) { o.UsePathStyle = true })
	_, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraint(r.Region)}})
	kindtest.Must(t, err)
	for _, key := range []string{"v1.zip", "v2.zip"} {
		_, err := objects.PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: bytes.NewReader([]byte("the archive of " + key))})
		kindtest.Must(t, err)
	}
	_, err = api(r).PublishLayerVersion(t.Context(), &lambda.PublishLayerVersionInput{LayerName: aws.String("tools"),
		Content: &types.LayerVersionContentInput{S3Bucket: aws.String(bucket), S3Key: aws.String("v1.zip")}})
	kindtest.Must(t, err)
}

const toolsLayer = "arn:aws:lambda:" + of + ":layer:tools:1"

func targets(s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"SQSQueue/failed": {ID: "failed", ARN: queue}, "SNSTopic/failed": {ID: "failed", ARN: topic},
		"KMSKey/secrets": {ID: "secrets", ARN: key + "secrets"}, "S3Bucket/code": {ID: bucket, ARN: "arn:aws:s3:::" + bucket},
		"Subnet/a": {ID: "subnet-0a"}, "SecurityGroup/web": {ID: "sg-0a"}}
	for _, name := range []string{"worker", "other"} {
		s.Targets["IAMRole/"+name] = kind.Target{ID: name, ARN: roles + name}
	}
}

func withParents(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	parents(t, s.Rig)
	targets(s)
	s.RolePath = "/"
}

func observed(t *testing.T, r *kindtest.Rig) *lambda.GetFunctionOutput {
	t.Helper()
	out, err := api(r).GetFunction(t.Context(), &lambda.GetFunctionInput{FunctionName: aws.String(stored)})
	if err != nil && strings.Contains(err.Error(), "ResourceNotFound") {
		return nil
	}
	kindtest.Must(t, err)
	return out
}

func exists(t *testing.T, r *kindtest.Rig) bool { return observed(t, r) != nil }

func makeFunction(t *testing.T, r *kindtest.Rig, tags map[string]string) {
	t.Helper()
	_, err := api(r).CreateFunction(t.Context(),
		&lambda.CreateFunctionInput{FunctionName: aws.String(stored), Role: aws.String(roles + "worker"), PackageType: types.PackageTypeImage,
			Code: &types.FunctionCode{ImageUri: aws.String(image + "v1")}, Tags: tags})
	kindtest.Must(t, err)
}

func before(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeFunction(t, r, tags) }
}

func foreign(t *testing.T, r *kindtest.Rig) { makeFunction(t, r, map[string]string{"made": "by hand"}) }

func remove(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteFunction(t.Context(), &lambda.DeleteFunctionInput{FunctionName: aws.String(stored)})
	kindtest.Must(t, err)
}

// change makes a change outside the operator.
func change(in lambda.UpdateFunctionConfigurationInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.FunctionName = aws.String(stored)
		_, err := api(r).UpdateFunctionConfiguration(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func send(in lambda.UpdateFunctionCodeInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.FunctionName = aws.String(stored)
		_, err := api(r).UpdateFunctionCode(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "LambdaFunction", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestFunction(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewFunction), withParents, slices.Concat(lives(), refusals(), codeEdits(), edits(), owners()))
}

func lives() []kindtest.Case {
	full := functionOf(sized(512, 30), described("Resizes pictures"), runs("arm64"), variables("BUCKET", "team-pictures"),
		reaches([]string{"subnet-0a", "subnet-0b"}, []string{"sg-0a"}),
		deadLettersTo(queue), traced("Active"), tagged("team", "a"), stores(1024), encrypted(key+"a"),
		started(v1alpha1.LambdaImageConfig{Command: []string{"serve"}, EntryPoint: []string{"/app"}, WorkingDirectory: "/srv"}))
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: functionOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with all that an image can have", Object: full, Cause: engine.New, Actions: []string{create}},
		{Name: "in sync", Existing: full, Object: full, Cause: engine.InSync},
		{Name: "from an archive", Object: functionOf(zipped("v1.zip"), layers(toolsLayer)), Cause: engine.New, Actions: []string{create}},
		{Name: "from an archive, in sync", Existing: functionOf(zipped("v1.zip")), Object: functionOf(zipped("v1.zip")), Cause: engine.InSync},
		{Name: "deleted by hand, it is created again", Existing: functionOf(), Object: functionOf(), Drift: true, Before: remove,
			Cause: engine.New, Actions: []string{create}},
		{Name: "deleting", Existing: functionOf(), Object: functionOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{removeWhole}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: functionOf(deletion(v1alpha1.DeletionOrphan)),
			Object:   functionOf(deletion(v1alpha1.DeletionOrphan)),
			Deleting: true, Drift: true, Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func refusals() []kindtest.Case {
	refused := func(name string, edits ...edit) kindtest.Case {
		return kindtest.Case{Name: name, Object: functionOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	byARN := func(s *spec) { s.RoleRef, s.Role = nil, roles+"worker" }
	return []kindtest.Case{
		refused("a name with a colon", func(s *spec) { s.FunctionName = "team:resize" }),
		refused("no code", func(s *spec) { s.Code = nil }),
		refused("two places of code", func(s *spec) { s.Code.S3Bucket = bucket }),
		refused("an archive without a key", zipped("")),
		refused("an image in another region",
			func(s *spec) { s.Code.ImageURI = kindtest.Account + ".dkr.ecr.us-west-2.amazonaws.com/team/resize:v1" }),
		refused("an image by the dual-stack endpoint of another region",
			func(s *spec) { s.Code.ImageURI = kindtest.Account + ".dkr-ecr.us-west-2.on.aws/team/resize:v1" }),
		refused("an image by a FIPS endpoint", func(s *spec) { s.Code.ImageURI = strings.Replace(image, ".ecr.", ".ecr-fips.", 1) + "v1" }),
		refused("an image of the public registry", func(s *spec) { s.Code.ImageURI = "public.ecr.aws/lambda/python:3.13" }),
		refused("an archive without a runtime", zipped("v1.zip"), func(s *spec) { s.Runtime = "" }),
		refused("an image with a handler", func(s *spec) { s.Handler = "index.handler" }),
		refused("two roles", func(s *spec) { s.Role = roles + "worker" }),
		refused("a role by its name", func(s *spec) { s.RoleRef, s.Role = nil, "worker" }),
		refused("subnets without security groups", reaches([]string{"subnet-0a"}, nil)),
		refused("dead letters to two targets",
			deadLetters(v1alpha1.LambdaDeadLetterConfig{TargetARN: aws.String(queue), QueueRef: &v1alpha1.ObjectReference{Name: "failed"}})),
		refused("dead letters to a bucket", deadLettersTo("arn:aws:s3:::"+bucket)),
		refused("a variable with a hyphen", variables("A-B", "c")),
		refused("too little memory", sized(64, 3)),
		refused("too little storage", stores(256)),
		refused("settings of an image for an archive", zipped("v1.zip"), started(v1alpha1.LambdaImageConfig{Command: []string{"serve"}})),
		refused("a key by its ID", encrypted("own")),
		refused("two keys", encrypted(key+"a"), func(s *spec) { s.KMSKeyRef = &v1alpha1.ObjectReference{Name: "secrets"} }),
		{Name: "a role by ARN, which the provider does not allow", Object: functionOf(byARN),
			Facts: func(s *kindtest.Subject) { s.RolePath = "" }, Stalled: status.ReasonNotPermitted},
		{Name: "a role by ARN, where the provider allows it", Object: functionOf(byARN), Cause: engine.New, Actions: []string{create}},
	}
}

func codeEdits() []kindtest.Case {
	zip := func(edits ...edit) *v1alpha1.LambdaFunction {
		return functionOf(append([]edit{zipped("v1.zip")}, edits...)...)
	}
	return []kindtest.Case{
		{Name: "another image", Existing: functionOf(), Object: functionOf(imaged("v2")), Cause: engine.Edited, Diff: []string{"ImageURI"},
			Actions: []string{updateCode}},
		{Name: "another image by hand is corrected", Existing: functionOf(), Object: functionOf(), Drift: true,
			Before: send(lambda.UpdateFunctionCodeInput{ImageUri: aws.String(image + "v9")}),
			Cause:  engine.Drifted, Diff: []string{"ImageURI"}, Actions: []string{updateCode}},
		{Name: "another archive", Existing: zip(), Object: functionOf(zipped("v2.zip")), Cause: engine.Edited, Diff: []string{"Source"},
			Actions: []string{updateCode}},
		{Name: "another architecture", Existing: functionOf(runs("x86_64")), Object: functionOf(runs("arm64")), Cause: engine.Edited,
			Diff: []string{"Architecture"}, Actions: []string{updateCode}},
		{Name: "code and settings, one after the other", Existing: functionOf(), Object: functionOf(imaged("v2"), sized(256, 9)),
			Cause: engine.Edited,
			Diff:  []string{"ImageURI", "Timeout", "MemorySize"}, Actions: []string{updateCode, configure}},
	}
}

func edits() []kindtest.Case {
	settings := functionOf(zipped("v1.zip"), sized(512, 30), described("old"), variables("A1", "old", "B1", "same"), traced("Active"),
		deadLettersTo(queue))
	return []kindtest.Case{
		{Name: "settings", Existing: settings,
			Object: functionOf(zipped("v1.zip"), func(s *spec) { s.Runtime, s.Handler = "python3.12", "index.other" }, sized(1024, 60),
				described("new"),
				variables("A1", "new", "B1", "same"), traced("PassThrough"), deadLettersTo(topic)), Cause: engine.Edited,
			Diff:    []string{"Runtime", "Handler", "Description", "Timeout", "MemorySize", "Variables[A1]", "DeadLetters", "Tracing"},
			Actions: []string{configure}},
		{Name: "settings changed by hand are corrected", Existing: settings, Object: settings, Drift: true,
			Before: change(lambda.UpdateFunctionConfigurationInput{Timeout: aws.Int32(5), Description: aws.String("by hand"),
				Environment:   &types.Environment{Variables: map[string]string{"A1": "old", "B1": "same", "C1": "by hand"}},
				TracingConfig: &types.TracingConfig{Mode: types.TracingModePassThrough}}),
			Cause: engine.Drifted, Diff: []string{"Description", "Timeout", "Variables[C1]", "Tracing"}, Actions: []string{configure}},
		{Name: "settings are cleared", Existing: settings, Object: functionOf(zipped("v1.zip"), described(""), variables(), deadLettersTo("")),
			Cause: engine.Edited,
			Diff:  []string{"Description", "Variables[A1]", "Variables[B1]", "DeadLetters"}, Actions: []string{configure}},
		{Name: "settings of the image",
			Existing: functionOf(started(v1alpha1.LambdaImageConfig{Command: []string{"serve"}, WorkingDirectory: "/srv"})),
			Object:   functionOf(started(v1alpha1.LambdaImageConfig{Command: []string{"serve", "--all"}, EntryPoint: []string{"/app"}})),
			Cause:    engine.Edited,
			Diff:     []string{"Command", "EntryPoint", "Directory"}, Actions: []string{configure}},
		{Name: "settings of the image are removed", Existing: functionOf(started(v1alpha1.LambdaImageConfig{Command: []string{"serve"}})),
			Object: functionOf(started(v1alpha1.LambdaImageConfig{})),
			Cause:  engine.Edited, Diff: []string{"Command"}, Actions: []string{configure}},
		{Name: "settings of the image by hand are corrected", Existing: functionOf(started(v1alpha1.LambdaImageConfig{})),
			Object: functionOf(started(v1alpha1.LambdaImageConfig{})), Drift: true,
			Before: change(lambda.UpdateFunctionConfigurationInput{ImageConfig: &types.ImageConfig{EntryPoint: []string{"/by-hand"}}}),
			Cause:  engine.Drifted, Diff: []string{"EntryPoint"}, Actions: []string{configure}},
		{Name: "more storage", Existing: functionOf(stores(512)), Object: functionOf(stores(1024)), Cause: engine.Edited,
			Diff: []string{"Storage"}, Actions: []string{configure}},
		{Name: "storage and key by hand are corrected", Existing: functionOf(stores(512), encrypted("")),
			Object: functionOf(stores(512), encrypted("")), Drift: true,
			Before: change(lambda.UpdateFunctionConfigurationInput{EphemeralStorage: &types.EphemeralStorage{Size: aws.Int32(2048)},
				KMSKeyArn: aws.String(key + "b")}),
			Cause: engine.Drifted, Diff: []string{"Storage", "Key"}, Actions: []string{configure}},
		{Name: "a key by reference", Existing: functionOf(),
			Object: functionOf(func(s *spec) { s.KMSKeyRef = &v1alpha1.ObjectReference{Name: "secrets"} }), Cause: engine.Edited,
			Diff: []string{"Key"}, Actions: []string{configure}},
		{Name: "an alias, which Lambda may show as the key", Object: functionOf(encrypted(alias + "own")), Facts: func(*kindtest.Subject) {},
			Cause: engine.New, Actions: []string{create}},
		{Name: "another alias", Existing: functionOf(encrypted(alias + "own")), Object: functionOf(encrypted(alias + "other")),
			Facts: func(*kindtest.Subject) {}, Cause: engine.Edited, Diff: []string{"KeyAlias"}, Actions: []string{configure}},
		{Name: "back to a key of AWS", Existing: functionOf(encrypted(key + "a")), Object: functionOf(encrypted("")), Cause: engine.Edited,
			Diff: []string{"Key"}, Actions: []string{configure}},
		{Name: "another role", Existing: functionOf(), Object: functionOf(ref("other")), Cause: engine.Edited, Diff: []string{"Role"},
			Actions: []string{configure}},
		{Name: "another role by hand is corrected", Existing: functionOf(), Object: functionOf(), Drift: true,
			Before: change(lambda.UpdateFunctionConfigurationInput{Role: aws.String(roles + "other")}),
			Cause:  engine.Drifted, Diff: []string{"Role"}, Actions: []string{configure}},
		{Name: "layers are added", Existing: functionOf(zipped("v1.zip")), Object: functionOf(zipped("v1.zip"), layers(toolsLayer)),
			Cause: engine.Edited, Diff: []string{"Layers"}, Actions: []string{configure}},
		{Name: "and removed", Existing: functionOf(zipped("v1.zip"), layers(toolsLayer)), Object: functionOf(zipped("v1.zip"), layers()),
			Cause: engine.Edited, Diff: []string{"Layers"}, Actions: []string{configure}},
		{Name: "a network by references", Existing: functionOf(), Object: functionOf(func(s *spec) {
			s.VPCConfig = &v1alpha1.LambdaVPCConfig{SubnetRefs: []v1alpha1.ObjectReference{{Name: "a"}},
				SecurityGroupRefs: []v1alpha1.ObjectReference{{Name: "web"}}}
		}), Cause: engine.Edited, Diff: []string{"Subnets", "Groups"}, Actions: []string{configure}},
		{Name: "another subnet", Existing: functionOf(reaches([]string{"subnet-0a"}, []string{"sg-0a"})),
			Object: functionOf(reaches([]string{"subnet-0b"}, []string{"sg-0a"})), Cause: engine.Edited, Diff: []string{"Subnets"},
			Actions: []string{configure}},
		{Name: "out of the network", Existing: functionOf(reaches([]string{"subnet-0a"}, []string{"sg-0a"})),
			Object: functionOf(reaches(nil, nil)), Cause: engine.Edited, Diff: []string{"Subnets", "Groups"}, Actions: []string{configure}},
		{Name: "dead letters to a queue by reference", Existing: functionOf(),
			Object: functionOf(deadLetters(v1alpha1.LambdaDeadLetterConfig{QueueRef: &v1alpha1.ObjectReference{Name: "failed"}})),
			Cause:  engine.Edited, Diff: []string{"DeadLetters"}, Actions: []string{configure}},
		{Name: "and to a topic", Existing: functionOf(deadLettersTo(queue)),
			Object: functionOf(deadLetters(v1alpha1.LambdaDeadLetterConfig{TopicRef: &v1alpha1.ObjectReference{Name: "failed"}})),
			Cause:  engine.Edited, Diff: []string{"DeadLetters"}, Actions: []string{configure}},
		{Name: "instances are reserved", Existing: functionOf(), Object: functionOf(reserved(5)), Cause: engine.Edited,
			Diff: []string{"Reserved"}, Actions: []string{reserve}},
		{Name: "none are allowed", Existing: functionOf(reserved(5)), Object: functionOf(reserved(0)), Cause: engine.Edited,
			Diff: []string{"Reserved"}, Actions: []string{reserve}},
		{Name: "the reservation is removed", Existing: functionOf(reserved(0)), Object: functionOf(reserved(-1)), Cause: engine.Edited,
			Diff: []string{"Reserved"}, Actions: []string{dropReserved}},
		{Name: "a reservation by hand is corrected", Existing: functionOf(reserved(-1)), Object: functionOf(reserved(-1)), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				_, err := api(r).PutFunctionConcurrency(t.Context(),
					&lambda.PutFunctionConcurrencyInput{FunctionName: aws.String(stored), ReservedConcurrentExecutions: aws.Int32(1)})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"Reserved"}, Actions: []string{dropReserved}},
		{Name: "tags are added and dropped", Existing: functionOf(tagged("old", "1")), Object: functionOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func owners() []kindtest.Case {
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: functionOf(),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: functionOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: before(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's operator has it", Object: functionOf(), Before: before(ownerTags("an-earlier-one", "another")),
			Stalled: status.ReasonConflict},
		{Name: "made by hand, it is a conflict", Object: functionOf(), Before: foreign, Stalled: status.ReasonConflict},
		{Name: "made by hand, it is adopted where both sides allow",
			Object: functionOf(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }),
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true }, Before: foreign, Cause: engine.Edited, Diff: ownerPaths,
			Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	sample := []edit{sized(256, 9), variables("A1", "old"), tagged("team", "a")}
	return kindtest.Life{
		Sample: functionOf(append(sample, reserved(2))...), Exists: exists, Foreign: foreign, Parents: parents, Facts: targets,
		Edited: functionOf(imaged("v2"), sized(512, 9), variables("A1", "new"), reserved(3), tagged("team", "b")),
		Invalid: []v1alpha1.Resource{functionOf(append(sample, deadLettersTo("arn:aws:s3:::"+bucket))...),
			functionOf(append(sample, func(s *spec) { s.Role = roles + "worker" })...)},
	}
}

func TestFunctionSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewFunction), life()) }

func TestFunctionSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewFunction), life()) }

func subject(t *testing.T, o *v1alpha1.LambdaFunction) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewFunction), o)
	withParents(t, s)
	return s
}

func TestAReferenceThatIsNotReadyIsWaitedFor(t *testing.T) {
	late := v1alpha1.ObjectReference{Name: "late"}
	for waitsFor, e := range map[string]edit{
		"IAMRole/late":  ref("late"),
		"S3Bucket/late": func(s *spec) { zipped("v1.zip")(s); s.Code.S3Bucket, s.Code.S3BucketRef = "", &late },
		"SQSQueue/late": deadLetters(v1alpha1.LambdaDeadLetterConfig{QueueRef: &late}),
		"KMSKey/late":   func(s *spec) { s.KMSKeyRef = &late },
		"SNSTopic/late": deadLetters(v1alpha1.LambdaDeadLetterConfig{TopicRef: &late}),
		"Subnet/late": func(s *spec) {
			s.VPCConfig = &v1alpha1.LambdaVPCConfig{SubnetRefs: []v1alpha1.ObjectReference{late}, SecurityGroupIDs: []string{"sg-0a"}}
		},
		"SecurityGroup/late": func(s *spec) {
			s.VPCConfig = &v1alpha1.LambdaVPCConfig{SubnetIDs: []string{"subnet-0a"}, SecurityGroupRefs: []v1alpha1.ObjectReference{late}}
		},
	} {
		_, err := subject(t, functionOf(e)).Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.For != waitsFor {
			t.Errorf("%s: got %v", waitsFor, err)
		}
	}
}

// IAM shows a new role late.
func TestARoleThatLambdaDoesNotSeeYetIsWaitedFor(t *testing.T) {
	s := subject(t, functionOf(ref("new")))
	s.Targets["IAMRole/new"] = kind.Target{ID: "new", ARN: roles + "new"}
	_, err := s.Pass(t.Context(), nil)
	if _, stalled := status.AsStalled(err); stalled || err == nil || !strings.Contains(err.Error(), "cannot be assumed by Lambda") {
		t.Errorf("got %v", err)
	}
}

// A hash that the archive must have finds code that others sent.
func TestOtherCodeIsFoundByItsHash(t *testing.T) {
	s := subject(t, functionOf(zipped("v1.zip")))
	kindtest.Settled(t, s)
	hash := aws.ToString(observed(t, s.Rig).Configuration.CodeSha256)
	known := functionOf(zipped("v1.zip"), func(s *spec) { s.Code.CodeSHA256 = hash })
	s.Edit(known)
	kindtest.Settled(t, s)
	send(lambda.UpdateFunctionCodeInput{S3Bucket: aws.String(bucket), S3Key: aws.String("v2.zip")})(t, s.Rig)
	kindtest.Settled(t, s)
	if now := aws.ToString(observed(t, s.Rig).Configuration.CodeSha256); now != hash {
		t.Errorf("the code is %s, want %s", now, hash)
	}
}

// Lambda makes one update at a time, and a worker waits for none of them.
func TestUpdatesAreAwaitedOneAfterTheOther(t *testing.T) {
	s := subject(t, functionOf())
	s.Rig.AWS.SetClock(func() time.Time { return s.Clock })
	t.Cleanup(func() { s.Rig.AWS.SetClock(nil) })
	s.Rig.AWS.Lambda.SetFunctionsTake(4 * time.Second)
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.Error(), "the function is Pending") {
		t.Errorf("got %v", err)
	}
	kindtest.Settled(t, s)
	s.Edit(functionOf(imaged("v2"), sized(512, 9), reserved(1)))
	mark := s.Rig.AWS.Mark()
	kindtest.Settled(t, s)
	if failed := s.Rig.AWS.Since(mark).Failed(); len(failed) > 0 {
		t.Errorf("Lambda refused\n%s", failed)
	}
	out := observed(t, s.Rig)
	if aws.ToString(out.Code.ImageUri) != image+"v2" || *out.Configuration.MemorySize != 512 || out.Configuration.State != types.StateActive ||
		*out.Concurrency.ReservedConcurrentExecutions != 1 {
		t.Errorf("%+v", out.Configuration)
	}
}

// Lambda shows the settings of an update that failed, while the version before it serves.
func TestAFailedUpdateIsShownUntilTheNextOneSucceeds(t *testing.T) {
	s := subject(t, functionOf())
	kindtest.Settled(t, s)
	s.Rig.AWS.Lambda.SetFunctionUpdatesFail("the image has no entry point")
	t.Cleanup(func() { s.Rig.AWS.Lambda.SetFunctionUpdatesFail("") })
	s.Edit(functionOf(imaged("v2")))
	kindtest.Settled(t, s)
	shown := func() *metav1.Condition {
		return meta.FindStatusCondition(s.Object.(*v1alpha1.LambdaFunction).Status.Conditions, v1alpha1.ConditionLastUpdateSucceeded)
	}
	if c := shown(); c == nil || c.Status != metav1.ConditionFalse || c.Reason != status.ReasonRefusedByAWS ||
		!strings.Contains(c.Message, "the image has no entry point") {
		t.Errorf("%+v", c)
	}
	s.Rig.AWS.Lambda.SetFunctionUpdatesFail("")
	s.Edit(functionOf(imaged("v3")))
	kindtest.Settled(t, s)
	if c := shown(); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", c)
	}
}

// Values of variables are in no message.
func TestVariablesAreNotShown(t *testing.T) {
	s := subject(t, functionOf(variables("TOKEN", "before")))
	kindtest.Settled(t, s)
	for _, o := range []*v1alpha1.LambdaFunction{functionOf(variables("TOKEN", "after")), functionOf(variables())} {
		s.Edit(o)
		p, err := s.Decide(t.Context())
		kindtest.Must(t, err)
		if len(p.Diff) != 1 || strings.Contains(p.Diff[0].Want+p.Diff[0].Have, "before") ||
			strings.Contains(p.Diff[0].Want+p.Diff[0].Have, "after") {
			t.Errorf("%+v", p.Diff)
		}
	}
}

func TestFunctionPublishesWhatLambdaAssigned(t *testing.T) {
	s := subject(t, functionOf())
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.LambdaFunction).Status
	if st.ARN != "arn:aws:lambda:"+of+":function:"+stored || st.FunctionARN != st.ARN || st.ID != stored || st.State != "Active" ||
		st.CodeSHA256 == "" || st.LastModified == "" {
		t.Errorf("%+v", st)
	}
	if !maps.Equal(observed(t, s.Rig).Tags, s.Scope().Tags) {
		t.Errorf("tags %v", observed(t, s.Rig).Tags)
	}
}

func TestFunctionCosts(t *testing.T) {
	s := subject(t, functionOf(sized(256, 9), tagged("team", "a")))
	const describe = "GetFunction"
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateFunction": 1, describe: 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{describe: 1}, Change: s.Forget},
		kindtest.Cost{Name: "code and settings", Calls: map[string]int{describe: 3, "UpdateFunctionCode": 1, "UpdateFunctionConfiguration": 1},
			Change: func() { s.Edit(functionOf(imaged("v2"), sized(512, 9), tagged("team", "a"))) }},
		kindtest.Cost{Name: "delete", Calls: map[string]int{describe: 1, "DeleteFunction": 1}, Change: func() { s.Deleting = true }})
}
