// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

const deadWebhook = `failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": `

func TestADeadWebhookIsNamedAndIsNoOutage(t *testing.T) {
	internal := func(text string) error { return apierrors.NewInternalError(errors.New(text)) }
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"no endpoints": {internal(deadWebhook + `no endpoints available for service "kyverno-svc"`),
			[]string{"validate.kyverno.svc-fail", "Service kyverno/kyverno-svc", "-n kyverno"}},
		"TLS": {internal(deadWebhook + "tls: failed to verify certificate: x509: certificate signed by unknown authority"),
			[]string{"Service kyverno/kyverno-svc"}},
		"a deadline": {fmt.Errorf("applying Deployment a/b: %w", internal(deadWebhook+"context deadline exceeded")),
			[]string{"validate.kyverno.svc-fail", "Deployment a/b"}},
		"an address": {internal(`failed calling webhook "v.example.com": failed to call webhook: Post "https://192.0.2.1/v?timeout=1s": EOF`),
			[]string{"v.example.com", "validatingwebhookconfigurations"}},
		"a conversion":   {internal(`conversion webhook for cert-manager.io/v1, Kind=Issuer failed: Post "https://cm.certs.svc:443/convert?timeout=30s": EOF`), []string{"conversion webhook of cert-manager.io/v1, Kind=Issuer", "-n certs"}},
		"another reason": {internal("etcdserver: request timed out"), nil},
		"a refusal": {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "b",
			errors.New(`admission webhook "v.example.com" denied the request`)), nil},
		"AWS":     {errors.New(deadWebhook), nil},
		"nothing": {nil, nil},
	} {
		r, ok := status.AsRetrying(c.err)
		if ok != (c.want != nil) || ok && r.Reason != status.ReasonWebhookFailing {
			t.Errorf("%s: %v %v", name, ok, r)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(r.Error(), w) {
				t.Errorf("%s: %q does not name %q", name, r.Error(), w)
			}
		}
	}
}

func TestSummarize_GivesADeadWebhookItsOwnCode(t *testing.T) {
	var conds []metav1.Condition
	status.Summarize(&conds, status.Result{Err: apierrors.NewInternalError(errors.New(deadWebhook + "EOF")), Generation: 1, Now: time.Now()})
	for _, c := range conds {
		if c.Type == status.Ready &&
			(c.Reason != status.ReasonWebhookFailing || !strings.HasSuffix(c.Message, "("+status.CodeOf(status.ReasonWebhookFailing)+")") ||
				!strings.HasPrefix(c.Message, "webhook ")) {
			t.Errorf("%s: %s", c.Reason, c.Message)
		}
	}
}
