// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// tokenProgram is the command that a kubeconfig calls for a token.
const tokenProgram = "nexusctl"

// tokenExec returns how clients get the tokens of a cluster: with the profile and the endpoint of this call.
func tokenExec(s *connection.Connection, clusterARN, name string) *clientcmdapi.ExecConfig {
	args := []string{"token", "--cluster-name", name}
	if parsed, err := arn.Parse(clusterARN); err == nil {
		args = append(args, "--region", parsed.Region)
	}
	for _, flag := range [][2]string{{"--profile", s.Profile}, {"--endpoint-url", s.Endpoint}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	return &clientcmdapi.ExecConfig{APIVersion: clientauthv1.SchemeGroupVersion.String(), Command: tokenProgram, Args: args,
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		InstallHint:     "nexusctl gets the tokens of this EKS cluster; put it into a directory of PATH."}
}

// PrintToken prints a token for an EKS cluster as an ExecCredential.
func PrintToken(ctx context.Context, s *connection.Connection, cluster string) error {
	if cluster == "" {
		cluster = s.Getenv("EKS_CLUSTER_NAME")
	}
	if strings.TrimSpace(cluster) == "" {
		return exit.Usage("--cluster-name is missing")
	}
	o, err := s.OfflineOptions()
	if err != nil {
		return err
	}
	cfg, err := s.Ambient(ctx)
	if err != nil {
		return exit.Precondition(fmt.Errorf("finding AWS credentials: %w", err))
	}
	cfg.Region = o.AWS.Region
	if err := awsclient.CheckCredentials(ctx, cfg.Credentials); err != nil { // the error of signing would say less about missing settings
		return exit.Precondition(err)
	}
	token, expires, err := install.Token(ctx, cfg, cluster, s.Clock.Now())
	if err != nil {
		return exit.Precondition(err)
	}
	return json.NewEncoder(s.Out).Encode(clientauthv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthv1.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status:   &clientauthv1.ExecCredentialStatus{Token: token, ExpirationTimestamp: &metav1.Time{Time: expires}},
	})
}
