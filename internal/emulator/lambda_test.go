// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestLambda_FunctionsChangeOneUpdateAtATime(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.Lambda.SetFunctionsTake(time.Minute)
	c, ctx, name := lambda.NewFromConfig(config(p.URL())), t.Context(), aws.String("resize")
	_, err := iam.NewFromConfig(config(p.URL())).CreateRole(ctx,
		&iam.CreateRoleInput{RoleName: aws.String("worker"), AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`)})
	must.Succeed(t, err)
	const image, queue = "123456789012.dkr.ecr.ap-southeast-1.amazonaws.com/resize:v1", "arn:aws:sqs:ap-southeast-1:123456789012:failed"
	made, err := c.CreateFunction(ctx,
		&lambda.CreateFunctionInput{FunctionName: name, Role: aws.String("arn:aws:iam::123456789012:role/worker"),
			PackageType: types.PackageTypeImage,
			Code:        &types.FunctionCode{ImageUri: aws.String(image)}, DeadLetterConfig: &types.DeadLetterConfig{TargetArn: aws.String(queue)}})
	if must.Succeed(t, err); made.State != types.StatePending || *made.DeadLetterConfig.TargetArn != queue {
		t.Errorf("%+v", made)
	}
	configure := func(in lambda.UpdateFunctionConfigurationInput) error {
		in.FunctionName = name
		_, err := c.UpdateFunctionConfiguration(ctx, &in)
		return err
	}
	observed := func() *lambda.GetFunctionOutput {
		t.Helper()
		out, err := c.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: name})
		must.Succeed(t, err)
		return out
	}
	if err := configure(lambda.UpdateFunctionConfigurationInput{Timeout: aws.Int32(9)}); err == nil ||
		!strings.Contains(err.Error(), "ResourceConflictException") {
		t.Errorf("a Pending function: %v", err)
	}
	now = now.Add(time.Minute)
	must.Succeed(t, configure(lambda.UpdateFunctionConfigurationInput{DeadLetterConfig: &types.DeadLetterConfig{TargetArn: aws.String("")},
		TracingConfig: &types.TracingConfig{Mode: types.TracingModeActive}}))
	_, err = c.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: name, ImageUri: aws.String(image)})
	if err == nil || !strings.Contains(err.Error(), "ResourceConflictException") {
		t.Errorf("a function with an update in progress: %v", err)
	}
	if d := observed().Configuration; d.State != types.StateActive || d.LastUpdateStatus != types.LastUpdateStatusInProgress ||
		*d.DeadLetterConfig.TargetArn != "" || d.TracingConfig.Mode != types.TracingModeActive {
		t.Errorf("%+v", d)
	}
	now = now.Add(time.Minute)
	_, err = c.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: name, ImageUri: aws.String(image),
		Architectures: []types.Architecture{types.ArchitectureArm64}})
	must.Succeed(t, err)
	now = now.Add(time.Minute)
	_, err = c.PutFunctionConcurrency(ctx, &lambda.PutFunctionConcurrencyInput{FunctionName: name, ReservedConcurrentExecutions: aws.Int32(0)})
	must.Succeed(t, err)
	if out := observed(); out.Concurrency == nil || *out.Concurrency.ReservedConcurrentExecutions != 0 ||
		out.Configuration.Architectures[0] != types.ArchitectureArm64 {
		t.Errorf("%+v %+v", out.Concurrency, out.Configuration)
	}
	_, err = c.DeleteFunctionConcurrency(ctx, &lambda.DeleteFunctionConcurrencyInput{FunctionName: name})
	if must.Succeed(t, err); observed().Concurrency != nil {
		t.Error("the reservation is still there")
	}
	if found, err := p.Inventory(ctx); err != nil || len(found["lambda/function"]) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	_, err = c.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: name})
	must.Succeed(t, err)
	if _, err := c.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: name}); err == nil ||
		!strings.Contains(err.Error(), "ResourceNotFoundException") {
		t.Errorf("got %v", err)
	}
}
