// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestSessionServesOnlyItsAttestedAccount(t *testing.T) {
	session := &awsclient.Session{Account: "210987654321", Partition: "aws"}
	for name, c := range map[string]struct {
		allowed             []v1alpha1.AccountID
		recorded, partition string
		refused             string
	}{
		"recorded":                           {nil, "210987654321", "aws", ""},
		"recorded and allowed":               {[]v1alpha1.AccountID{"1", "210987654321"}, "210987654321", "aws", ""},
		"recorded, no longer allowed":        {[]v1alpha1.AccountID{"123456789012"}, "210987654321", "aws", "spec.allowedAccountIDs"},
		"another account recorded":           {nil, "123456789012", "aws", "123456789012"},
		"allowed and not yet recorded":       {[]v1alpha1.AccountID{"210987654321"}, "123456789012", "aws", "123456789012"},
		"the same number, another partition": {nil, "210987654321", "aws-cn", "210987654321"},
	} {
		p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha1.AWSProviderSpec{AllowedAccountIDs: c.allowed},
			Status: v1alpha1.AWSProviderStatus{AccountID: c.recorded, Partition: c.partition}}
		err := checkAttested(p, session)
		if c.refused == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonProviderNotReady || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAmbientRefusalNamesTheFlagAndItsValue(t *testing.T) {
	for _, c := range []struct {
		allowed []string
		role    string
		want    []string
	}{
		{nil, "", []string{"--ambient-namespaces=team-a", "spec.credentialsSecret"}},
		{[]string{"platform", "ops-*"}, "arn:aws:iam::123456789012:role/app",
			[]string{"--ambient-namespaces=platform,ops-*,team-a", "arn:aws:iam::123456789012:role/app"}},
	} {
		p := &Directory{Guards: Guards{AmbientNamespaces: c.allowed}}
		err := p.ambientRefused(&v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"},
			Spec: v1alpha1.AWSProviderSpec{RoleARN: c.role}})
		s, ok := status.AsStalled(err)
		if !ok || s.Reason != status.ReasonAmbientNotAllowed {
			t.Fatalf("got %v", err)
		}
		for _, part := range c.want {
			if !strings.Contains(s.Error(), part) {
				t.Errorf("%q does not contain %q", s.Error(), part)
			}
		}
	}
}

// The schema refuses such names, too, where the API server evaluates it. No server is asked: there is no client.
func TestSecretOfAnImpossibleNameIsMissing(t *testing.T) {
	for _, name := range []string{"../../victim/secrets/token", "victim/token", "Token", "token\n", ""} {
		_, err := (&Directory{OperatorNamespace: "platform"}).secret(t.Context(), "team", name)
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonCredentialsMissing {
			t.Errorf("%q: got %v, want CredentialsMissing", name, err)
		}
		if want := "--serviceaccount=platform:nexus-operator"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRegionsOfProvidersMustExist(t *testing.T) {
	p := &Directory{Guards: Guards{Regions: []string{"eu-west-1", "xx-new-1"}}}
	for _, c := range []struct {
		region, endpoint string
		refused          bool
	}{
		{"eu-west-1", "", false},
		{"xx-new-1", "", false},
		{"eu-wset-1", "", true},
		{"eu-wset-1", "https://minio.example", false},
	} {
		provider := &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Region: c.region, Endpoint: c.endpoint}}
		s, refused := status.AsStalled(p.checkRegion(provider))
		if refused != c.refused || refused &&
			(s.Field != "spec.region" || !strings.Contains(s.Message, "--additional-regions") || !strings.Contains(s.Message, c.region)) {
			t.Errorf("%s at %q: %v", c.region, c.endpoint, s)
		}
	}
}
