// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestEndpointsOfProvidersAreGuarded(t *testing.T) {
	p := &Directory{Guards: Guards{AllowedEndpoints: []string{"https://*.corp.example", "http://127.0.0.1:*", "http://plain.example"}}}
	keys := &v1alpha1.SecretReference{Name: "keys"}
	for _, c := range []struct {
		endpoint string
		keys     *v1alpha1.SecretReference
		refused  string
	}{
		{"", nil, ""},
		{"https://s3.corp.example", keys, ""},
		{"http://127.0.0.1:4566", keys, ""},
		{"https://s3.other.example", keys, "--allowed-endpoints"},
		{"http://plain.example", keys, "https"},
		{"https://s3.corp.example", nil, "operator's own credentials"},
		{"http://127.0.0.1:80@evil.example", keys, "plain URL"},
		{"https://evil.example?x=.corp.example", keys, "plain URL"},
		{"https://evil.example/.corp.example", keys, "plain URL"},
		{"://", keys, "plain URL"},
	} {
		provider := &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Endpoint: c.endpoint, CredentialsSecret: c.keys}}
		err := p.checkEndpoint(provider)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%q: %v, want %q", c.endpoint, err, c.refused)
		}
	}
}

func TestCredentialsAreReadByTheirKeys(t *testing.T) {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", ResourceVersion: "7"}, Data: map[string][]byte{
		"AWS_ACCESS_KEY_ID": []byte("AKIA\n"), "AWS_SECRET_ACCESS_KEY": []byte("secret"), "AWS_SESSION_TOKEN": []byte("token")}}
	keys, version, err := keysOf(s)
	if err != nil || keys.AccessKeyID != "AKIA" || keys.SecretAccessKey.Reveal() != "secret" || keys.SessionToken.Reveal() != "token" ||
		version != "7" {
		t.Errorf("%v %q %v", keys, version, err)
	}
	delete(s.Data, "AWS_SECRET_ACCESS_KEY")
	_, _, err = keysOf(s)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonCredentialsMissing ||
		!strings.Contains(st.Message, "AWS_SECRET_ACCESS_KEY") {
		t.Errorf("a missing key: %v", err)
	}
}
