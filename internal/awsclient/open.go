// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// build opens an identity from the beginning: base credentials, then one role after the other, each
// only if the identity before is not that role already.
func (s *Sessions) build(ctx context.Context, id Identity) (*Session, error) {
	cfg, err := s.config(ctx, id)
	if err != nil {
		return nil, err
	}
	plain := cfg.APIOptions
	who, err := s.words.callerIdentity(ctx, s.instrument(cfg, plain, id, caller{}))
	if err != nil {
		return nil, err
	}
	callers := []string{who.arn}
	for _, to := range id.hops() {
		if who.is(to.role) {
			continue
		}
		if who.isRole() && id.duration() > hour {
			return nil, status.Invalid("spec.sessionDuration", "%s is a role itself, and role chaining caps a session at 1h, not %s",
				principal(who.arn), id.duration())
		}
		base := s.instrument(cfg, plain, id, who)
		cfg.Credentials = s.assume(sts.NewFromConfig(base), id, who, to)
		if who, err = s.words.callerIdentity(ctx, s.instrument(cfg, plain, id, who)); err != nil {
			return nil, err
		}
		callers = append(callers, who.arn)
	}
	return &Session{
		Config:    s.instrument(cfg, plain, id, who),
		Partition: who.partition,
		Account:   who.account,
		Region:    id.Region,
		CallerARN: who.arn,
		Callers:   callers,
		now:       s.now,
		memo:      &memo{values: map[string]func() any{}},
	}, nil
}

// config is the ambient configuration with the replacements of the identity.
func (s *Sessions) config(ctx context.Context, id Identity) (aws.Config, error) {
	cfg, err := s.loadAmbient(ctx)
	if err != nil {
		return aws.Config{}, err
	}
	cfg.Region = id.Region
	cfg.Retryer = newRetryer
	cfg.RetryMaxAttempts = 0
	cfg.AppID = appID
	// The environment could make the SDK log requests.
	cfg.Logger, cfg.ClientLogMode = logging.Nop{}, 0
	if id.Endpoint != "" {
		cfg.BaseEndpoint = aws.String(id.Endpoint)
		// Otherwise AWS_ENDPOINT_URL_<SERVICE> of the environment would win over the provider.
		cfg.ConfigSources = nil
	}
	if id.Static != nil {
		cfg.Credentials = staticProvider{keys: *id.Static}
		return cfg, nil
	}
	return cfg, s.words.checkAmbient(ctx, cfg.Credentials)
}

// loadAmbient loads the operator's own configuration once; a failure is not remembered.
func (s *Sessions) loadAmbient(ctx context.Context) (aws.Config, error) {
	if base := s.loaded(); base != nil {
		return base.Copy(), nil
	}
	return s.load.do(ctx, func(ctx context.Context) (aws.Config, error) {
		if base := s.loaded(); base != nil {
			return base.Copy(), nil
		}
		cfg, err := s.ambient(ctx)
		switch {
		case ctx.Err() != nil:
			return aws.Config{}, ctx.Err()
		case err != nil:
			return aws.Config{}, &status.Stalled{
				Reason:  status.ReasonCredentialsMissing,
				Message: status.Truncate(s.words.configuration+" cannot be read: "+scrub(err.Error()), maxMessage),
				Cause:   err,
			}
		}
		switch {
		case s.client != nil:
			cfg.HTTPClient = s.client
		case cfg.HTTPClient == nil:
			cfg.HTTPClient = NewHTTPClient()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.base = &cfg
		return cfg.Copy(), nil
	})
}

func (s *Sessions) loaded() *aws.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base
}

// instrument puts our middleware into a configuration, for the account of who.
func (s *Sessions) instrument(cfg aws.Config, plain []func(*middleware.Stack) error, id Identity, who caller) aws.Config {
	t := &throughput{}
	at := s.calls.at(home{endpoint: id.Endpoint, account: who.account, region: id.Region}, t)
	cfg.APIOptions = append(slices.Clone(plain), at)
	t.config = cfg
	return cfg
}

// assume makes credentials of a role. They are taken when first used and replaced in time.
func (s *Sessions) assume(client *sts.Client, id Identity, who caller, to hop) aws.CredentialsProvider {
	input := &sts.AssumeRoleInput{
		RoleArn:         aws.String(to.role),
		RoleSessionName: aws.String(id.SessionName),
		DurationSeconds: aws.Int32(int32(id.duration() / time.Second)),
	}
	if id.ExternalID != "" {
		input.ExternalId = aws.String(id.ExternalID)
	}
	return &sessionCache{now: s.now, lifetime: id.duration(), failed: s.calls.meter.refreshFailures.Inc,
		retrieve: func(ctx context.Context) (aws.Credentials, error) {
			out, err := client.AssumeRole(ctx, input)
			if err != nil {
				return aws.Credentials{}, s.words.refusedRole(err, id, who, to)
			}
			if out.Credentials == nil {
				return aws.Credentials{}, brokenAnswer("sts:AssumeRole")
			}
			return aws.Credentials{
				AccessKeyID:     aws.ToString(out.Credentials.AccessKeyId),
				SecretAccessKey: aws.ToString(out.Credentials.SecretAccessKey),
				SessionToken:    aws.ToString(out.Credentials.SessionToken),
				Source:          "AssumeRole",
				AccountID:       roleARN.FindStringSubmatch(to.role)[2],
			}, nil
		}}
}

// callerIdentity asks STS who the configuration's credentials are. STS answers without any permission.
func (w *identityWords) callerIdentity(ctx context.Context, cfg aws.Config) (caller, error) {
	out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return caller{}, w.unknownCaller(err, cfg.Credentials)
	}
	if aws.ToString(out.Arn) == "" || aws.ToString(out.Account) == "" { // the SDK takes an empty 200 for an answer
		return caller{}, brokenAnswer("sts:GetCallerIdentity")
	}
	return parseCaller(*out.Arn, *out.Account), nil
}

// unknownCaller reads why STS would not say who we are.
func (w *identityWords) unknownCaller(err error, credentials aws.CredentialsProvider) error {
	if isKind(err) {
		return kindOf(err)
	}
	remedy := w.check
	switch credentials.(type) {
	case staticProvider:
		remedy = "put a valid key into the provider's Secret"
	case *sessionCache:
		remedy = "the role's sessions may have been revoked"
	}
	e := explanation{err: err, failure: Classify(err), action: "sts:GetCallerIdentity", words: w}
	switch e.failure.Class {
	case Expired:
		return e.stalled(status.ReasonCredentialsInvalid, "the credentials have expired%s: %s", e.textOfSignIn(), remedy)
	case Unauthenticated:
		return e.stalled(status.ReasonCredentialsInvalid, "AWS does not accept the credentials%s: %s", e.textOfSignIn(), remedy)
	case Denied, Invalid, NotFound:
		return e.stalled(status.ReasonCredentialsInvalid, "AWS does not accept the credentials%s: %s", e.text(), remedy)
	}
	return e.unreachable("STS")
}

// unreachable explains a failed call that is no refusal: AWS throttles it, cannot be reached or gives a broken answer.
func (e explanation) unreachable(what string) error {
	if e.failure.Class == Throttled {
		return e.retrying(status.ReasonThrottled, "AWS throttles %s%s: "+e.words.passes+", lower --aws-rates or ask AWS for more", e.action,
			e.text())
	}
	words := transportFailure(e.err)
	switch {
	case e.failure.Status >= 500:
		words = "it has an internal problem (HTTP status 5xx)"
	case e.failure.Status != 0:
		words = "it answers" + e.text()
	case words == "":
		words = "its answer was broken"
	}
	return e.retrying(status.ReasonUnreachable, "%s%s cannot be reached: %s: "+e.words.passes+", check the way to AWS", what,
		endpointOf(e.err), words)
}

func brokenAnswer(action string) error {
	return &status.Retrying{Reason: status.ReasonUnreachable,
		Cause: errors.New("the answer to " + action + " is empty: is a proxy in between?")}
}

// maxRemedy lets a trust policy's ingredients survive uncut.
const maxRemedy = 1024

// refusedRole reads why a role could not be assumed:
// docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_roles.html#troubleshoot_roles_cant-assume-role.
func (w *identityWords) refusedRole(err error, id Identity, who caller, to hop) error {
	if isKind(err) {
		return kindOf(err)
	}
	e := explanation{err: err, failure: Classify(err), action: "sts:AssumeRole", words: w}
	switch e.failure.Class {
	case Denied:
		external := ""
		if id.ExternalID != "" {
			external = fmt.Sprintf(" under the condition StringEquals sts:ExternalId %q", id.ExternalID)
		}
		from := principal(who.arn)
		return &status.Stalled{Reason: status.ReasonRoleNotAssumable, Field: to.field, Cause: err, Message: status.Truncate(fmt.Sprintf(
			"%s may not assume %s: allow sts:AssumeRole to principal %s in that role's trust policy%s, and allow sts:AssumeRole on it in that principal's own policy",
			from, to.role, from, external), maxRemedy)}
	case Invalid, NotFound, Limit, Propagating:
		return &status.Stalled{Reason: status.ReasonRoleNotAssumable, Field: to.field, Cause: err, Message: status.Truncate(fmt.Sprintf(
			"%s cannot be assumed%s", to.role, e.text()), maxRemedy)}
	case Expired, Unauthenticated:
		return e.stalled(status.ReasonCredentialsInvalid, "AWS does not accept the credentials that should assume %s%s", to.role,
			e.textOfSignIn())
	}
	return e.unreachable("STS")
}

// checkAmbient checks that there is an ambient identity, and that its credentials can be retrieved.
func (w *identityWords) checkAmbient(ctx context.Context, credentials aws.CredentialsProvider) error {
	missing := &status.Stalled{
		Reason:  status.ReasonCredentialsMissing,
		Message: w.missing,
	}
	if credentials == nil {
		return missing
	}
	_, err := credentials.Retrieve(ctx)
	if err == nil {
		return nil
	}
	e := explanation{err: err, failure: Classify(err), action: w.signIn, words: w}
	if ctx.Err() == nil && e.failure.Service == metadataService { // the last place the SDK looks at: no other has credentials
		missing.Cause = err
		return missing
	}
	return e.failedSignIn(ctx)
}

// metadataService is the service name in errors of the SDK's client for the instance metadata of EC2.
const metadataService = "ec2imds"

// failedSignIn explains why the credentials of a configured identity cannot be retrieved. Only an answer of STS is about the role: an
// error without one comes from the SDK, such as a region that is missing or a token that cannot be read.
func (e explanation) failedSignIn(ctx context.Context) error {
	f := e.failure
	service := "the source of the credentials"
	if f.Service == "sts" {
		service = "STS"
	}
	switch {
	case ctx.Err() != nil:
		return e.retrying(status.ReasonUnreachable, "%s failed: %s", e.action, transportFailure(e.err))
	case f.Class == Throttled || f.Class == Transient:
		return e.unreachable(service)
	case f.Status != 0 && f.Service == "sts":
		return e.stalled(status.ReasonCredentialsInvalid, "%s does not accept it: check that role's trust policy%s", e.words.role, e.text())
	case f.Status != 0 && f.Code != "":
		return e.stalled(status.ReasonCredentialsMissing, "%s failed%s", e.action, e.text())
	}
	return e.stalled(status.ReasonCredentialsMissing, "%s failed: %s", e.action, scrub(causeOf(e.err)))
}
