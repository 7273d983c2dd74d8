// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const testIssuer = "https://oidc.eks.eu-west-1.amazonaws.com/id/ABC"

// withAudience is IAM's answer about a provider that exists.
func withAudience(audience string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		_, _ = fmt.Fprintf(w, `<GetOpenIDConnectProviderResponse><GetOpenIDConnectProviderResult><Url>x</Url><ClientIDList><member>%s</member></ClientIDList>`+
			`</GetOpenIDConnectProviderResult></GetOpenIDConnectProviderResponse>`, audience)
	}
}

func TestOIDCProviderIsReadOncePerInterval(t *testing.T) {
	const action, every, retry = "GetOpenIDConnectProvider", 5 * time.Minute, time.Minute
	absent := queryError(404, "NoSuchEntity", "OpenIDConnect Provider not found for arn")
	denied := queryError(403, "AccessDenied",
		"User: arn:aws:iam::123456789012:user/tester is not authorized to perform: iam:GetOpenIDConnectProvider")
	f := newSTS(t)
	s := mustOpen(t, f.sessions(t, ""), static())
	look := func(want int) (kind.OIDCProvider, error) {
		t.Helper()
		found, err := s.OIDCProvider(t.Context(), testIssuer, every, retry)
		if n := f.count(action); n != want {
			t.Fatalf("%d calls, want %d", n, want)
		}
		return found, err
	}

	f.failing(action, absent)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = s.OIDCProvider(t.Context(), testIssuer, every, retry) })
	}
	wg.Wait()
	found, err := look(1)
	if err != nil || found.Exists || found.ARN != "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/ABC" {
		t.Errorf("absent: %+v, %v", found, err)
	}
	if got := f.input(action, "OpenIDConnectProviderArn"); got != found.ARN {
		t.Errorf("asked for %s", got)
	}
	f.failing(action, withAudience("other"))
	f.clock.advance(retry)
	if found, err := look(2); err != nil || !found.Exists || found.Accepts(kind.STSAudience) {
		t.Errorf("without the audience: %+v, %v", found, err)
	}
	f.failing(action, withAudience(kind.STSAudience))
	f.clock.advance(retry)
	if found, err := look(3); err != nil || !found.Accepts(kind.STSAudience) {
		t.Errorf("with the audience: %+v, %v", found, err)
	}
	f.clock.advance(every - time.Second)
	_, _ = look(3)
	// A passing failure does not hide the last answer; a missing permission does.
	f.failing(action, queryError(503, "ServiceFailure", "x"))
	f.clock.advance(time.Second)
	if found, err := look(4); err != nil || !found.Accepts(kind.STSAudience) {
		t.Errorf("a failure that passes: %+v, %v", found, err)
	}
	f.failing(action, denied)
	f.clock.advance(retry)
	_, err = look(5)
	stalledWith(t, err, status.ReasonAccessDenied, "iam:GetOpenIDConnectProvider")
	_, err = look(5)
	stalledWith(t, err, status.ReasonAccessDenied, "iam:GetOpenIDConnectProvider")
	if _, err := s.OIDCProvider(t.Context(), testIssuer+"/other", every, retry); err == nil || f.count(action) != 6 {
		t.Errorf("another issuer is another question: %v, %d calls", err, f.count(action))
	}
}
