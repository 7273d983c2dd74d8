// SPDX-License-Identifier: Apache-2.0

package demoscrape

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

//go:embed trouble.yaml
var trouble string

// MakeTrouble creates what a healthy demo does not have: a capability that fails because its bucket belongs to another
// owner, an assumed role, and a drift. It returns when the drift is about to be found.
func (d *Demo) MakeTrouble(ctx context.Context) error {
	const location = `<CreateBucketConfiguration><LocationConstraint>ap-southeast-1</LocationConstraint></CreateBucketConfiguration>`
	if _, err := d.aws(ctx, "s3", http.MethodPut, "/trouble-dev-documents", location); err != nil {
		return err
	}
	role, err := d.createRole(ctx)
	if err != nil {
		return err
	}
	if _, err := d.Kubectl(ctx, strings.ReplaceAll(trouble, "ROLE_ARN", role), "apply", "-f", "-"); err != nil {
		return err
	}
	if _, err := d.Kubectl(ctx, "", "wait", "-n", "trouble-dev", "--for=condition=Ready", "s3bucket/drifting", "--timeout=60s"); err != nil {
		found, _ := d.Kubectl(ctx, "", "get", "-n", "trouble-dev", "awsprovider,s3bucket", "-o",
			`jsonpath={range .items[*]}{.metadata.name}: {.status.conditions}{"\n"}{end}`)
		return fmt.Errorf("%w\n%s", err, found)
	}
	// Its last write makes the operator look once more. A change that this look meets may be its own write that does not show yet, which
	// is no drift: another look must end first.
	look := time.Now().Format(time.RFC3339Nano)
	if err := d.requestReconcile(ctx, look); err != nil {
		return err
	}
	if _, err := d.Kubectl(ctx, "", "wait", "-n", "trouble-dev", "--for=jsonpath={.status.lastHandledReconcileAt}="+look, "s3bucket/drifting",
		"--timeout=60s"); err != nil {
		return err
	}
	const suspended = `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Suspended</Status></VersioningConfiguration>`
	if _, err := d.aws(ctx, "s3", http.MethodPut, "/trouble-dev-drifting?versioning", suspended); err != nil {
		return err
	}
	return d.requestReconcile(ctx, time.Now().Format(time.RFC3339Nano))
}

// requestReconcile asks the operator to look at the bucket that drifts.
func (d *Demo) requestReconcile(ctx context.Context, at string) error {
	_, err := d.Kubectl(ctx, "", "annotate", "--overwrite", "-n", "trouble-dev", "s3bucket/drifting", "nexus.ai/reconcile-requested-at="+at)
	return err
}

// createRole creates a role that everybody may assume, and returns its ARN.
func (d *Demo) createRole(ctx context.Context) (string, error) {
	form := url.Values{"Action": {"CreateRole"}, "Version": {"2010-05-08"}, "RoleName": {"trouble"}, "AssumeRolePolicyDocument": {
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`}}
	answer, err := d.aws(ctx, "iam", http.MethodPost, "/", form.Encode())
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`<Arn>([^<]+)</Arn>`).FindStringSubmatch(answer)
	if m == nil {
		return "", fmt.Errorf("CreateRole answers %s", answer)
	}
	return m[1], nil
}

// aws sends a request to the demo's AWS emulator, which does not check signatures.
func (d *Demo) aws(ctx context.Context, service, method, path, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, d.state.AWS+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDDEMO/20250101/ap-southeast-1/"+service+
		"/aws4_request, SignedHeaders=host, Signature=x")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", errors.Join(err, fmt.Errorf("%s %s answers %s: %s", method, path, answer.Status, text))
	}
	return string(text), nil
}
