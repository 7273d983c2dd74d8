// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"slices"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

func TestEnter_KeepsWhatOthersWrote(t *testing.T) {
	const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod"
	s := &connection.Connection{Profile: "team"}
	c := install.Cluster{ARN: arn, Endpoint: "https://new", CA: []byte("ca")}
	e := &entry{Context: "prod"}

	fresh := clientcmdapi.NewConfig()
	e.enter(s, fresh, c, "prod", true)
	exec := fresh.AuthInfos[arn].Exec
	if fresh.CurrentContext != "prod" || fresh.Clusters[arn].Server != "https://new" ||
		!slices.Equal(exec.Args, []string{"token", "--cluster-name", "prod", "--region", "eu-west-1", "--profile", "team"}) {
		t.Errorf("%+v, %+v", fresh, exec)
	}

	old := clientcmdapi.NewConfig()
	old.CurrentContext = "mine"
	old.Contexts["prod"] = &clientcmdapi.Context{Cluster: arn, AuthInfo: "me", Namespace: "team-a"}
	old.AuthInfos["me"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "aws"}}
	e.enter(s, old, c, "prod", false)
	if old.CurrentContext != "mine" || old.Contexts["prod"].Namespace != "team-a" || old.AuthInfos["me"].Exec.Command != "aws" ||
		old.Clusters[arn].Server != "https://new" {
		t.Errorf("%+v", old)
	}
}
