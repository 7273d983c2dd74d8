// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestIssuersThatAWSCannotReach(t *testing.T) {
	for issuer, want := range map[string]bool{
		"https://oidc.eks.ap-southeast-1.amazonaws.com/id/ABC": true,
		"https://keys.example.com":                             true,
		"https://kubernetes.default.svc.cluster.local":         false,
		"https://kubernetes.default.svc":                       false,
		"https://kubernetes.default.svc.corp.example":          false,
		"https://issuer.local":                                 false,
		"https://keys.example.com:6443":                        false,
		"https://10.0.0.1":                                     false,
		"https://[::1]/x":                                      false,
		"https://kubernetes":                                   false,
		"http://keys.example.com":                              false,
		"kubernetes/serviceaccount":                            false,
		"":                                                     false,
	} {
		if got := isReachable(issuer); got != want {
			t.Errorf("%q: %v, want %v", issuer, got, want)
		}
	}
}

func TestUnknownIssuerSaysWhatToDo(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
	for name, c := range map[string]struct {
		found   string
		err     error
		stalled bool
		want    []string
	}{
		"inside": {"https://kubernetes.default.svc", nil, true,
			[]string{"https://kubernetes.default.svc", "--eks-cluster-name", "--service-account-issuer"}},
		"forbidden": {"", forbidden, true, []string{"system:service-account-issuer-discovery", "--eks-cluster-name"}},
		"down": {"", apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", schema.GroupResource{}, "", "", 0, true), false,
			[]string{"openid-configuration"}},
	} {
		err := unknownIssuer(c.found, c.err)
		if _, ok := status.AsStalled(err); ok != c.stalled {
			t.Errorf("%s: %T", name, err)
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not contain %q", name, err, part)
			}
		}
	}
}
