// SPDX-License-Identifier: Apache-2.0

// Package lambda is the Lambda kinds.
package lambda

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// FunctionState is a function as both the spec and Lambda can express it. The fields that Lambda can set have the names that
// its requests give them.
type FunctionState struct {
	FunctionName string `drift:"identity"`
	ARN          string `drift:"id"`
	// Location is the code in S3. Lambda reports only a hash of it.
	Location types.FunctionCode `drift:"id"`
	// Found holds the description by Lambda.
	Found types.FunctionConfiguration `drift:"observed"`

	PackageType *string `drift:"immutable"`
	// Source is Location, as a value that is written when it changes.
	Source       *kind.WriteOnly
	ImageURI     *string
	CodeSHA256   *string
	Architecture *string

	Role, Runtime, Handler, Description *string
	// RoleID is the unique ID of the role, as a value that is written when it changes: Lambda binds a function to the role that
	// had the name then, and not to one that was created again.
	RoleID *kind.WriteOnly
	// KeyAlias is the alias that Key names, as a value that is written when it changes: Lambda may show the key that it stood for.
	KeyAlias                     *kind.WriteOnly
	Timeout, MemorySize, Storage *int32
	// Variables are no secrets, but people put some there.
	Variables       map[string]string `drift:"exact,secret"`
	Subnets, Groups *[]string         `drift:"set"`
	Layers          *[]string
	// Command, EntryPoint and Directory are empty where the image's hold.
	Command, EntryPoint *[]string
	Directory           *string
	// DeadLetters and Key are "" where there is none.
	DeadLetters, Key, Tracing *string
	// Reserved is unreserved where Lambda reserves nothing.
	Reserved *int32
	Tags     map[string]string `drift:"tags"`
}

// unreserved stands for no reservation.
const unreserved = -1

type function struct{ api *lambda.Client }

// NewFunction binds the LambdaFunction kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html
func NewFunction(cfg aws.Config) kind.Kind[*v1alpha1.LambdaFunction, FunctionState] {
	f := &function{api: lambda.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.LambdaFunction, FunctionState]{
		Meta: kind.Meta{Facts: functionFacts(), Identity: kind.ByName, NoCreationTime: true, CreatesFirst: true, References: []string{"IAMRole", "KMSKey", "S3Bucket", "SNSTopic", "SQSQueue", "SecurityGroup", "Subnet"}},
		Identify: func(_ kind.Scope, cr *v1alpha1.LambdaFunction) (FunctionState, error) {
			return FunctionState{FunctionName: cr.Spec.FunctionName}, nil
		},
		Roles:   kind.Roles[FunctionState]{Of: func(s FunctionState) []string { return kind.Present(s.Role) }},
		Declare: declare, Publish: publish, Export: kind.Export[*v1alpha1.LambdaFunction, FunctionState]{Identity: []string{"functionName"}, Spec: exported, Separate: f.separateSettings()},
		Describe: kind.Read[FunctionState]{Actions: []string{"lambda:GetFunction"}, Do: f.describe},
		Create:   kind.Call[FunctionState]{Action: "lambda:CreateFunction", Do: f.create},
		Tagging: kind.Tagging[FunctionState]{
			Sets: "lambda:TagResource", Set: kind.Send(f.api.TagResource, func(have FunctionState, tags map[string]string) *lambda.TagResourceInput {
				return &lambda.TagResourceInput{Resource: &have.ARN, Tags: tags}
			}),
			Removes: "lambda:UntagResource", Remove: kind.Send(f.api.UntagResource, func(have FunctionState, keys []string) *lambda.UntagResourceInput {
				return &lambda.UntagResourceInput{Resource: &have.ARN, TagKeys: keys}
			}),
		},
		Parts: f.parts(),
		Delete: []kind.Ending[FunctionState]{{Call: kind.Call[FunctionState]{Action: "lambda:DeleteFunction", Effect: kind.Ends, Do: kind.Send(f.api.DeleteFunction, func(want, _ FunctionState) *lambda.DeleteFunctionInput {
			return &lambda.DeleteFunctionInput{FunctionName: &want.FunctionName}
		})}}},
	})
}

// parts are sent one after the other: Lambda refuses an update while it makes another one.
// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
func (f *function) parts() []kind.Part[FunctionState] {
	stage := func(n int) func(FunctionState, FunctionState) int {
		return func(FunctionState, FunctionState) int { return n }
	}
	// New code never runs as the role before: a function that was adopted may have another one's.
	afterRole := func(want, have FunctionState) int {
		return kind.Either(want.Role != nil && aws.ToString(want.Role) != aws.ToString(have.Role), 3, 1)
	}
	reserves := func(want, _ FunctionState) bool { return *want.Reserved != unreserved }
	return []kind.Part[FunctionState]{
		{Fields: []string{"Source", "ImageURI", "CodeSHA256", "Architecture"}, InCreate: true, LookAfter: true, Stage: afterRole,
			Write: kind.Call[FunctionState]{Action: "lambda:UpdateFunctionCode", Do: f.updateCode}},
		{Fields: []string{"Role", "RoleID", "Runtime", "Handler", "Description", "Timeout", "MemorySize", "Storage", "Variables", "Subnets", "Groups", "Layers",
			"Command", "EntryPoint", "Directory", "DeadLetters", "Key", "KeyAlias", "Tracing"}, InCreate: true, LookAfter: true, Stage: stage(2),
			Write: kind.Call[FunctionState]{Action: "lambda:UpdateFunctionConfiguration", DoDiff: kind.SendDiff(f.api.UpdateFunctionConfiguration, changes)}},
		{Fields: []string{"Reserved"}, When: reserves, Stage: stage(4),
			Write: kind.Call[FunctionState]{Action: "lambda:PutFunctionConcurrency", Do: kind.Send(f.api.PutFunctionConcurrency, func(want, _ FunctionState) *lambda.PutFunctionConcurrencyInput {
				return &lambda.PutFunctionConcurrencyInput{FunctionName: &want.FunctionName, ReservedConcurrentExecutions: want.Reserved}
			})}, Default: func(FunctionState) bool { return false }},
		{Fields: []string{"Reserved"}, When: func(want, have FunctionState) bool { return !reserves(want, have) }, Stage: stage(4),
			Write: kind.Call[FunctionState]{Action: "lambda:DeleteFunctionConcurrency", Do: kind.Send(f.api.DeleteFunctionConcurrency, func(want, _ FunctionState) *lambda.DeleteFunctionConcurrencyInput {
				return &lambda.DeleteFunctionConcurrencyInput{FunctionName: &want.FunctionName}
			})}, Default: func(FunctionState) bool { return true }},
	}
}

func declare(sc kind.Scope, cr *v1alpha1.LambdaFunction, s *FunctionState) error {
	in := cr.Spec
	s.Role, s.Runtime, s.Handler = kind.NonEmpty(&in.Role), kind.NonEmpty(&in.Runtime), kind.NonEmpty(&in.Handler)
	s.Description, s.Timeout, s.MemorySize, s.Layers, s.Reserved = in.Description, in.Timeout, in.MemorySize, in.Layers, in.ReservedConcurrentExecutions
	if why := kind.WhyNotPassed(sc, in.Role); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.role", Message: why + ": name an IAMRole of this namespace in spec.roleRef"}
	}
	if in.Environment != nil {
		s.Variables = map[string]string{}
		for name, value := range in.Environment.Variables {
			s.Variables[name] = string(value)
		}
	}
	if in.TracingConfig != nil {
		s.Tracing = &in.TracingConfig.Mode
	}
	if len(in.Architectures) > 0 {
		s.Architecture = &in.Architectures[0]
	}
	if in.EphemeralStorage != nil {
		s.Storage = &in.EphemeralStorage.Size
	}
	if c := in.ImageConfig; c != nil {
		s.Command, s.EntryPoint, s.Directory = listOf(c.Command), listOf(c.EntryPoint), &c.WorkingDirectory
	}
	for _, step := range []func(kind.Scope, v1alpha1.LambdaFunctionSpec, *FunctionState) error{declareRole, declareCode, declareKey, declareNetwork, declareDeadLetters} {
		if err := step(sc, in, s); err != nil {
			return err
		}
	}
	return nil
}

func declareRole(sc kind.Scope, in v1alpha1.LambdaFunctionSpec, s *FunctionState) error {
	if in.RoleRef == nil {
		return nil
	}
	target, err := sc.Ref("IAMRole", in.RoleRef.Name)
	if s.Role = &target.ARN; target.Attributes["roleId"] != "" {
		s.RoleID = kind.NewWriteOnly(sc.UID, target.Attributes["roleId"])
	}
	return err
}

func declareKey(sc kind.Scope, in v1alpha1.LambdaFunctionSpec, s *FunctionState) error {
	if s.Key = in.KMSKeyARN; isAlias(s.Key) {
		s.KeyAlias = kind.NewWriteOnly(sc.UID, *s.Key)
	}
	if in.KMSKeyRef == nil {
		return nil
	}
	target, err := sc.Ref("KMSKey", in.KMSKeyRef.Name)
	s.Key = &target.ARN
	return err
}

// isAlias reports whether a key is named by the ARN of an alias.
func isAlias(key *string) bool { return strings.Contains(aws.ToString(key), ":alias/") }

// keyAs returns the wanted alias where Lambda shows a key, which may be the one that the alias stands for.
func keyAs(want, have *string) *string {
	return kind.Either(isAlias(want) && !isAlias(have) && aws.ToString(have) != "", want, have)
}

func declareCode(sc kind.Scope, in v1alpha1.LambdaFunctionSpec, s *FunctionState) error {
	if in.Code == nil {
		return nil
	}
	c := *in.Code
	s.PackageType, s.ImageURI, s.CodeSHA256 = kind.Ptr(string(kind.Either(c.ImageURI != "", types.PackageTypeImage, types.PackageTypeZip))), kind.NonEmpty(&c.ImageURI), kind.NonEmpty(&c.CodeSHA256)
	if c.ImageURI != "" {
		s.Location = types.FunctionCode{ImageUri: &c.ImageURI}
		return refuseImage(c.ImageURI, sc.Region)
	}
	if c.S3BucketRef != nil {
		target, err := sc.Ref("S3Bucket", c.S3BucketRef.Name)
		if err != nil {
			return err
		}
		c.S3Bucket = target.ID
	}
	s.Location = types.FunctionCode{S3Bucket: &c.S3Bucket, S3Key: &c.S3Key, S3ObjectVersion: kind.NonEmpty(&c.S3ObjectVersion)}
	s.Source = kind.NewWriteOnly(sc.UID, strings.Join([]string{c.S3Bucket, c.S3Key, c.S3ObjectVersion}, "\n"))
	return nil
}

// repositoryHost is the host of a registry of ECR, with its region.
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
var repositoryHost = regexp.MustCompile(`^[0-9]+\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.|on\.|api\.|sc2s\.|c2s\.)`)

// refuseImage refuses images that no push makes valid: Lambda takes images of its own region, by an endpoint that is not a FIPS one. AWS
// says of the others only that they are not valid.
// https://docs.aws.amazon.com/lambda/latest/dg/images-create.html
func refuseImage(uri, region string) error {
	host := repositoryHost.FindStringSubmatch(uri)
	switch {
	case strings.HasPrefix(uri, "public.ecr.aws/"):
		return status.Invalid("spec.code.imageUri", "Lambda takes no images of the public registry: push the image to a repository in %s, or name one with a pull through cache rule", region)
	case host == nil:
		return nil
	case host[1] != region:
		return status.Invalid("spec.code.imageUri", "the image is in %s, and Lambda takes images of the function's region: push it to a repository in %s, or let ECR replicate it there", host[1], region)
	case strings.Contains(host[0], "ecr-fips."):
		return status.Invalid("spec.code.imageUri", "Lambda takes no images by FIPS endpoints: write dkr.ecr instead of dkr.ecr-fips")
	}
	return nil
}

func declareNetwork(sc kind.Scope, in v1alpha1.LambdaFunctionSpec, s *FunctionState) error {
	if in.VPCConfig == nil {
		return nil
	}
	subnets, err := kind.ReferredIDs(sc.Lookups, "Subnet", in.VPCConfig.SubnetIDs, in.VPCConfig.SubnetRefs)
	if err != nil {
		return err
	}
	groups, err := kind.ReferredIDs(sc.Lookups, "SecurityGroup", in.VPCConfig.SecurityGroupIDs, in.VPCConfig.SecurityGroupRefs)
	s.Subnets, s.Groups = listOf(subnets), listOf(groups)
	return err
}

func declareDeadLetters(sc kind.Scope, in v1alpha1.LambdaFunctionSpec, s *FunctionState) error {
	d := in.DeadLetterConfig
	if d == nil {
		return nil
	}
	kindName, ref := "SQSQueue", d.QueueRef
	if d.TopicRef != nil {
		kindName, ref = "SNSTopic", d.TopicRef
	}
	if s.DeadLetters = d.TargetARN; ref == nil {
		return nil
	}
	target, err := sc.Ref(kindName, ref.Name)
	s.DeadLetters = &target.ARN
	return err
}

// listOf returns a list that is not nil, as requests need an empty one.
func listOf(items []string) *[]string { return kind.Ptr(append([]string{}, items...)) }

func publish(cr *v1alpha1.LambdaFunction, s FunctionState) {
	st, found := &cr.Status, s.Found
	st.ARN, st.ID, st.FunctionARN, st.State = s.ARN, s.FunctionName, s.ARN, string(found.State)
	st.StateReason = cmp.Or(aws.ToString(found.StateReason), aws.ToString(found.LastUpdateStatusReason))
	st.CodeSHA256, st.CodeSize, st.LastModified = aws.ToString(found.CodeSha256), found.CodeSize, aws.ToString(found.LastModified)
}

func (f *function) create(ctx context.Context, want, have FunctionState) error {
	return awaitCode(want, kind.Send(f.api.CreateFunction, creation)(ctx, want, have))
}

func (f *function) updateCode(ctx context.Context, want, have FunctionState) error {
	return awaitCode(want, kind.Send(f.api.UpdateFunctionCode, code)(ctx, want, have))
}

// awaitCode returns a wait for an image or an archive that does not exist yet, because a pipeline makes it.
func awaitCode(want FunctionState, err error) error {
	switch text := strings.ToLower(awsclient.Classify(err).Message); {
	case strings.Contains(text, "source image"):
		return awsclient.AwaitMissing(err, "image "+aws.ToString(want.Location.ImageUri)+" to be pushed (if its repository is gone, create it, or correct spec.code.imageUri)")
	case strings.Contains(text, "getobject"):
		return awsclient.AwaitMissing(err, fmt.Sprintf("archive s3://%s/%s to be uploaded", aws.ToString(want.Location.S3Bucket), aws.ToString(want.Location.S3Key)))
	}
	return err
}

func creation(want, _ FunctionState) *lambda.CreateFunctionInput {
	in := &lambda.CreateFunctionInput{FunctionName: &want.FunctionName, Code: &want.Location, PackageType: types.PackageType(aws.ToString(want.PackageType)),
		Role: want.Role, Runtime: types.Runtime(aws.ToString(want.Runtime)), Handler: want.Handler, Description: kind.NonEmpty(want.Description), Timeout: want.Timeout, MemorySize: want.MemorySize,
		Layers: *kind.NonNil(want.Layers), VpcConfig: network(want, FunctionState{}), Tags: want.Tags, Architectures: architectures(want), ImageConfig: imageConfig(want), EphemeralStorage: storage(want), KMSKeyArn: kind.NonEmpty(want.Key)}
	if len(want.Variables) > 0 {
		in.Environment = &types.Environment{Variables: want.Variables}
	}
	if arn := kind.NonEmpty(want.DeadLetters); arn != nil {
		in.DeadLetterConfig = &types.DeadLetterConfig{TargetArn: arn}
	}
	if want.Tracing != nil {
		in.TracingConfig = &types.TracingConfig{Mode: types.TracingMode(*want.Tracing)}
	}
	return in
}

func architectures(want FunctionState) []types.Architecture {
	if want.Architecture == nil {
		return nil
	}
	return []types.Architecture{types.Architecture(*want.Architecture)}
}

func imageConfig(want FunctionState) *types.ImageConfig {
	if want.Command == nil {
		return nil
	}
	return &types.ImageConfig{Command: *want.Command, EntryPoint: *want.EntryPoint, WorkingDirectory: want.Directory}
}

func storage(want FunctionState) *types.EphemeralStorage {
	if want.Storage == nil {
		return nil
	}
	return &types.EphemeralStorage{Size: want.Storage}
}

// network keeps the way out by IPv6, which no field says, while the function stays in a network.
func network(want, have FunctionState) *types.VpcConfig {
	if want.Subnets == nil {
		return nil
	}
	return &types.VpcConfig{SubnetIds: *want.Subnets, SecurityGroupIds: *want.Groups,
		Ipv6AllowedForDualStack: kind.Either(len(*want.Subnets) > 0, kind.NonNil(have.Found.VpcConfig).Ipv6AllowedForDualStack, nil)}
}

// code sends the code again. Lambda keeps the architecture that it does not name.
func code(want, _ FunctionState) *lambda.UpdateFunctionCodeInput {
	return &lambda.UpdateFunctionCodeInput{FunctionName: &want.FunctionName, Architectures: architectures(want),
		ImageUri: want.Location.ImageUri, S3Bucket: want.Location.S3Bucket, S3Key: want.Location.S3Key, S3ObjectVersion: want.Location.S3ObjectVersion}
}

// changes returns a request for the differences. Lambda keeps settings that it does not name.
func changes(want, have FunctionState, diff kind.Diff) *lambda.UpdateFunctionConfigurationInput {
	in := &lambda.UpdateFunctionConfigurationInput{FunctionName: &want.FunctionName}
	kind.SetChanged(diff, "Role", &in.Role, want.Role)
	kind.SetChanged(diff, "Runtime", &in.Runtime, types.Runtime(aws.ToString(want.Runtime)))
	kind.SetChanged(diff, "Handler", &in.Handler, want.Handler)
	kind.SetChanged(diff, "Description", &in.Description, want.Description)
	kind.SetChanged(diff, "Timeout", &in.Timeout, want.Timeout)
	kind.SetChanged(diff, "MemorySize", &in.MemorySize, want.MemorySize)
	kind.SetChanged(diff, "Variables", &in.Environment, &types.Environment{Variables: want.Variables})
	kind.SetChanged(diff, "Layers", &in.Layers, *kind.NonNil(want.Layers))
	kind.SetChanged(diff, "DeadLetters", &in.DeadLetterConfig, &types.DeadLetterConfig{TargetArn: want.DeadLetters})
	kind.SetChanged(diff, "Tracing", &in.TracingConfig, &types.TracingConfig{Mode: types.TracingMode(aws.ToString(want.Tracing))})
	kind.SetChanged(diff, "Storage", &in.EphemeralStorage, storage(want))
	kind.SetChanged(diff, "Key", &in.KMSKeyArn, want.Key)
	kind.SetChanged(diff, "KeyAlias", &in.KMSKeyArn, want.Key)
	if diff.Under("RoleID") {
		renewGrant(in, want)
	}
	kind.SetChanged(diff, "Subnets", &in.VpcConfig, network(want, have))
	kind.SetChanged(diff, "Groups", &in.VpcConfig, network(want, have))
	if diff.Under("Command", "EntryPoint", "Directory") {
		in.ImageConfig = imageConfig(want)
	}
	return in
}

// renewGrant sets the role, and the variables that Lambda encrypts for it: the grant on the key is for the unique ID of a role.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars-encryption.html
func renewGrant(in *lambda.UpdateFunctionConfigurationInput, want FunctionState) {
	if in.Role, in.KMSKeyArn = want.Role, want.Key; want.Variables != nil {
		in.Environment = &types.Environment{Variables: want.Variables}
	}
}

func (f *function) describe(ctx context.Context, want FunctionState, look kind.Look) (kind.Seen[FunctionState], error) {
	absent := kind.Seen[FunctionState]{}
	out, err := awsclient.Lookup(ctx, f.api.GetFunction, &lambda.GetFunctionInput{FunctionName: &want.FunctionName})
	if out == nil || out.Configuration == nil {
		return absent, err
	}
	if e := out.TagsError; e != nil { // without the tags, the owner of the function is unknown
		return absent, &status.Stalled{Reason: status.ReasonAccessDenied, Message: fmt.Sprintf("Lambda does not show the tags of function %s: %s: allow lambda:ListTags", want.FunctionName, aws.ToString(e.Message))}
	}
	d := *out.Configuration
	seen := kind.Seen[FunctionState]{Exists: true, Tags: out.Tags, State: stateOf(want, out)}
	if d.PackageType == types.PackageTypeZip {
		seen.Omitted = []string{"spec.code: Lambda does not tell from what bucket the code came"}
	}
	hidden := hiddenVariables(want.FunctionName, d)
	if hidden != nil {
		seen.Omitted = append(seen.Omitted, "spec.environment: "+hidden.Message)
	}
	if look.Deleting {
		if d.State == types.StateDeleting {
			seen.Busy = stateIs(d)
		}
		return seen, nil
	}
	if hidden != nil && want.Variables != nil {
		return absent, hidden
	}
	if err := judgeState(want.FunctionName, d, &seen); err != nil {
		return absent, err
	}
	return seen, nil
}

// hiddenVariables reports that Lambda shows no environment variables because it cannot read them for the caller; nil where it shows them.
func hiddenVariables(name string, d types.FunctionConfiguration) *status.Stalled {
	e := kind.NonNil(d.Environment).Error
	if e == nil {
		return nil
	}
	key := cmp.Or(aws.ToString(d.KMSKeyArn), "alias/aws/lambda")
	return &status.Stalled{Reason: status.ReasonAccessDenied, Field: "spec.environment", Message: fmt.Sprintf(
		"Lambda does not show the environment variables of function %s: %s: %s: enable KMS key %s, and allow kms:Decrypt on it", name, aws.ToString(e.ErrorCode), aws.ToString(e.Message), key)}
}

func stateIs(d types.FunctionConfiguration) string { return "the function is " + string(d.State) }

// judgeState names the operation that Lambda is carrying out on the function, or returns the steps for a person.
func judgeState(name string, d types.FunctionConfiguration, seen *kind.Seen[FunctionState]) error {
	switch d.State {
	case types.StateFailed:
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf("function %s is Failed: %s: correct the cause, and run aws lambda delete-function --function-name %s: the operator then creates it again",
			name, aws.ToString(d.StateReason), name)}
	case types.StateDeactivated, types.StateActiveNonInvocable:
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf("function %s is %s, so that nobody can invoke it: %s: correct the cause in its capacity provider", name, d.State, aws.ToString(d.StateReason))}
	}
	if seen.Busy = kind.BusyUnless("the function", d.State, types.StateActive, types.StateInactive); seen.Busy != "" {
		return nil
	}
	if seen.Busy = kind.BusyUnless("the last update of the function", d.LastUpdateStatus, types.LastUpdateStatusSuccessful, types.LastUpdateStatusFailed); seen.Busy != "" {
		seen.Usable = d.LastUpdateStatus == types.LastUpdateStatusInProgress
		return nil
	}
	seen.Notes = []kind.Note{lastUpdate(name, d)}
	return nil
}

// lastUpdate reports whether the version that serves is the one that was sent last: Lambda describes the other.
func lastUpdate(name string, d types.FunctionConfiguration) kind.Note {
	if d.LastUpdateStatus != types.LastUpdateStatusFailed {
		return kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonReady, True: true, Message: "the version that was sent last serves"}
	}
	return kind.Note{Type: v1alpha1.ConditionLastUpdateSucceeded, Reason: status.ReasonRefusedByAWS, Recheck: true,
		Message: fmt.Sprintf("the last update of function %s failed, and the version before it serves: %s: correct the cause, and change the code or a setting", name, aws.ToString(d.LastUpdateStatusReason))}
}

func stateOf(want FunctionState, out *lambda.GetFunctionOutput) FunctionState {
	d := *out.Configuration
	vpc, image := kind.NonNil(d.VpcConfig), kind.NonNil(kind.NonNil(d.ImageConfigResponse).ImageConfig)
	s := FunctionState{FunctionName: want.FunctionName, ARN: aws.ToString(d.FunctionArn), Found: d, PackageType: kind.Ptr(string(d.PackageType)), CodeSHA256: d.CodeSha256,
		ImageURI: kind.NonNil(out.Code).ImageUri, Role: d.Role, Runtime: kind.Ptr(string(d.Runtime)), Handler: d.Handler, Description: d.Description, Timeout: d.Timeout, MemorySize: d.MemorySize,
		Variables: kind.NonNil(d.Environment).Variables, Subnets: listOf(vpc.SubnetIds), Groups: listOf(vpc.SecurityGroupIds), Layers: listOf(nil),
		Command: listOf(image.Command), EntryPoint: listOf(image.EntryPoint), Directory: kind.Ptr(aws.ToString(image.WorkingDirectory)),
		Storage: kind.NonNil(d.EphemeralStorage).Size, Key: keyAs(want.Key, kind.Ptr(aws.ToString(d.KMSKeyArn))),
		DeadLetters: kind.NonNil(d.DeadLetterConfig).TargetArn, Tracing: kind.Ptr(string(kind.NonNil(d.TracingConfig).Mode)),
		Reserved: cmp.Or(kind.NonNil(out.Concurrency).ReservedConcurrentExecutions, aws.Int32(unreserved))}
	for _, l := range d.Layers {
		*s.Layers = append(*s.Layers, aws.ToString(l.Arn))
	}
	for _, a := range d.Architectures {
		s.Architecture = kind.Ptr(string(a))
	}
	return s
}
