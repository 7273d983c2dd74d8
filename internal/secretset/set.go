// SPDX-License-Identifier: Apache-2.0

// Package secretset puts values that people enter into secrets in AWS, and never prints one.
package secretset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Setter puts values into secrets.
type Setter struct {
	*connection.Connection
}

// Set puts the values of files into the keys of a secret, and has the operator look at it.
func (s *Setter) Set(ctx context.Context, args, files []string, dryRun bool) error {
	paths, err := pathsByKey(files)
	if err != nil {
		return err
	}
	_, c, err := s.Connect()
	if err != nil {
		return err
	}
	u, err := s.OneObject(args)
	if err != nil {
		return err
	}
	o, err := fillableSecret(u, slices.Sorted(maps.Keys(paths)))
	if err != nil {
		return err
	}
	vault, err := s.vaultOf(ctx, c, o)
	if err != nil {
		return err
	}
	current, err := vault.read(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(paths)) {
		value, err := s.readValue(ctx, key, paths[key])
		if err != nil {
			return err
		}
		if current[key], err = json.Marshal(value); err != nil {
			return fmt.Errorf("the value of %s cannot be written as JSON", key)
		}
	}
	if err := vault.write(ctx, current, dryRun); err != nil {
		return err
	}
	s.requestCheck(ctx, c, u, dryRun)
	return s.reportSet(o, slices.Sorted(maps.Keys(paths)), current, dryRun)
}

// requestCheck has the operator look at the secret now, so that its status does not say for some minutes that it is empty. The values are
// set by then, whether or not the caller may ask.
func (s *Setter) requestCheck(ctx context.Context, c client.Client, u *unstructured.Unstructured, dryRun bool) {
	at := s.Clock.Now().UTC().Format(time.RFC3339Nano)
	q := objectrequest.Request{Object: u,
		Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationReconcileAt: at}}}}
	if err := objectrequest.Patch(ctx, c, q, dryRun); err != nil {
		s.Say("%s: its status shows the values at the operator's next check, because none could be requested: %v", console.TitleOf(u), err)
	}
}

// reportSet says which keys were set and which are empty, and no value.
func (s *Setter) reportSet(o *v1alpha1.SecretsManagerSecret, set []string, values map[string]json.RawMessage, dryRun bool) error {
	var empty []string
	for _, key := range inspect.PlaceholderKeys(o) {
		if v := string(values[key]); v == "" || v == `""` {
			empty = append(empty, key)
		}
	}
	note := ""
	if len(empty) > 0 {
		note = "still empty: " + strings.Join(empty, ", ")
	}
	done := "set " + strings.Join(set, ", ")
	if dryRun {
		done += " (dry run)"
	}
	return s.Report("SecretsManagerSecret "+o.Namespace+"/"+o.Name, done, note)
}

// pathsByKey reads KEY=PATH pairs.
func pathsByKey(files []string) (map[string]string, error) {
	out := map[string]string{}
	stdin := 0
	for _, pair := range files {
		key, path, found := strings.Cut(pair, "=")
		if !found || key == "" || path == "" {
			return nil, exit.Usage("--from-file %q is not of the form KEY=PATH", pair)
		}
		if _, twice := out[key]; twice {
			return nil, exit.Usage("--from-file names the key %s twice", key)
		}
		if path == "-" {
			stdin++
		}
		out[key] = path
	}
	switch {
	case len(out) == 0:
		return nil, exit.Usage("name the keys to fill in: --from-file KEY=PATH")
	case stdin > 1:
		return nil, exit.Usage("standard input holds one value only: read the others from files")
	default:
		return out, nil
	}
}

// fillableSecret returns the object of a secret with keys that people fill in.
func fillableSecret(u *unstructured.Unstructured, keys []string) (*v1alpha1.SecretsManagerSecret, error) {
	o := &v1alpha1.SecretsManagerSecret{}
	if u.GetKind() != "SecretsManagerSecret" {
		return nil, exit.Usage("%s is no SecretsManagerSecret", console.TitleOf(u))
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
		return nil, err
	}
	if ref := cmp.Or(o.Spec.SecretStringRef, o.Spec.SecretBinaryRef); ref != nil {
		return nil, exit.Usage("%s takes its value from Secret %s: change it there", console.TitleOf(u), ref.Name)
	}
	known := inspect.PlaceholderKeys(o)
	for _, key := range keys {
		if !slices.Contains(known, key) {
			return nil, exit.Usage("%s has no key %s to fill in; it has: %s", console.TitleOf(u), key, strings.Join(known, ", "))
		}
	}
	if o.Status.ARN == "" {
		return nil, exit.Precondition(fmt.Errorf("%s has not been created in AWS yet: see nexusctl explain", console.TitleOf(u)))
	}
	return o, nil
}

// vault is one secret in Secrets Manager.
type vault struct {
	client *secretsmanager.Client
	arn    string
	title  string
}

// vaultOf opens the secret of an object with the caller's credentials, and checks that it belongs to the object.
func (s *Setter) vaultOf(ctx context.Context, c client.Client, o *v1alpha1.SecretsManagerSecret) (*vault, error) {
	p := &v1alpha1.AWSProvider{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Spec.ProviderRef.Name}, p); err != nil {
		return nil, fmt.Errorf("reading AWSProvider %s/%s: %w", o.Namespace, o.Spec.ProviderRef.Name, err)
	}
	session, err := s.Sessions().Open(ctx,
		awsclient.Identity{Key: p.Spec.Region + " " + p.Spec.Endpoint, Region: p.Spec.Region, Endpoint: p.Spec.Endpoint})
	if err != nil {
		return nil, &plan.AccessError{Err: err}
	}
	if a := p.Status.AccountID; a != "" && a != session.Account {
		return nil, exit.Precondition(fmt.Errorf("your AWS credentials lead to account %s, and AWSProvider/%s to account %s: use credentials of that account (AWS_PROFILE)", session.Account, p.Name, a))
	}
	v := &vault{client: secretsmanager.NewFromConfig(session.Config), arn: o.Status.ARN, title: o.Spec.SecretName}
	found, err := v.client.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &v.arn})
	if err != nil {
		return nil, refused(err)
	}
	isOwn := func(t types.Tag) bool {
		return aws.ToString(t.Key) == wellknown.TagOwnerUID && aws.ToString(t.Value) == string(o.UID)
	}
	if !slices.ContainsFunc(found.Tags, isOwn) {
		return nil, fmt.Errorf("secret %s does not carry the owner tags of SecretsManagerSecret %s/%s, so nothing is written to it", v.title,
			o.Namespace, o.Name)
	}
	return v, nil
}

// read returns the values of the secret by key, as JSON.
func (v *vault) read(ctx context.Context) (map[string]json.RawMessage, error) {
	found, err := v.client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &v.arn})
	if err != nil {
		return nil, refused(err)
	}
	// keys that are not set stay as they are written, such as large numbers
	values := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(aws.ToString(found.SecretString)), &values) != nil { // the error would quote the value
		return nil, fmt.Errorf("the value of secret %s is not a JSON object with keys: change it in Secrets Manager", v.title)
	}
	return values, nil
}

// write puts the values. An interruption does not cut the request off, so that it is known whether they were put.
func (v *vault) write(ctx context.Context, values map[string]json.RawMessage, dryRun bool) error {
	text, err := json.Marshal(values)
	if err != nil {
		return errors.New("the values cannot be written as JSON")
	}
	if ctx.Err() != nil || dryRun {
		return ctx.Err()
	}
	ctx, cancel := exit.Uncut(ctx, enact.PatchTimeout)
	defer cancel()
	_, err = v.client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &v.arn, SecretString: aws.String(string(text))})
	return refused(err)
}

// refused explains the error of an AWS call; a right that is missing is a precondition.
func refused(err error) error {
	err = awsclient.ExplainOnce(err, "")
	if stalled, ok := status.AsStalled(err); ok && stalled.Reason == status.ReasonAccessDenied {
		return exit.Precondition(err)
	}
	return err
}
