// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// account is that of the examples, which the emulator takes over by its environment.
const account = "123456789012"

// requirements pins the emulator and everything that it imports.
//
//go:embed requirements.txt
var requirements string

// version returns the pinned version of the emulator.
func version() string {
	for line := range strings.Lines(requirements) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "ministack=="); ok {
			return v
		}
	}
	return "unknown"
}

// installEmulator returns the path of the emulator's program, in a virtual environment in the cache whose name is the hash of the
// requirements. A marker, which is written last, says that the environment is complete.
func installEmulator(ctx context.Context) (string, error) {
	cache, err := world.CacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(requirements))
	env := filepath.Join(cache, "ministack", hex.EncodeToString(sum[:])[:16])
	program, marker := filepath.Join(env, "bin", "ministack"), filepath.Join(env, "complete")
	if _, err := os.Stat(marker); err == nil {
		return program, nil
	}
	if err := os.RemoveAll(env); err != nil {
		return "", err
	}
	if err := command(ctx, "python3", "-m", "venv", env); err != nil {
		return "", err
	}
	pinned := filepath.Join(env, "requirements.txt")
	if err := os.WriteFile(pinned, []byte(requirements), 0o600); err != nil {
		return "", err
	}
	pip := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", pinned}
	if err := command(ctx, filepath.Join(env, "bin", "python3"), pip...); err != nil {
		return "", err
	}
	return program, os.WriteFile(marker, nil, 0o600)
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// startEmulator starts the emulator with its data and its log in a folder, and returns its address once it answers.
func startEmulator(ctx context.Context, program, dir string) (string, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, _ := strings.Cut(address, ":")
	env := []string{"GATEWAY_PORT=" + port, "BIND_HOST=127.0.0.1", "MINISTACK_ACCOUNT_ID=" + account, "MINISTACK_REGION=" + region,
		"TMPDIR=" + dir, "SFTP_ENABLED=0", "S3_PERSIST=0", "DOCKER_HOST=unix:///nonexistent"}
	if err := startProcess(ctx, filepath.Join(dir, "ministack.log"), program, nil, env); err != nil {
		return "", err
	}
	url := "http://" + address
	for deadline := time.Now().Add(time.Minute); ; {
		answer, err := http.Get(url + "/_ministack/health")
		if err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK {
			return url, nil
		}
		if time.Now().After(deadline) {
			return "", errors.Join(errors.New("the emulator does not answer: read ministack.log in "+dir), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// prepareAccount makes what the examples expect in an account: the cluster with its issuer, and the policy that bounds roles.
func prepareAccount(ctx context.Context, url, issuer string) error {
	client := cloud.New(url).IAM
	_, err := client.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{strings.Repeat("0", 40)}})
	if err != nil {
		return err
	}
	role, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String(cluster), AssumeRolePolicyDocument: aws.String(
		`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]}`)})
	if err != nil {
		return err
	}
	clusters := eks.New(eks.Options{Region: region, BaseEndpoint: &url, Credentials: inventoryKey})
	_, err = clusters.CreateCluster(ctx,
		&eks.CreateClusterInput{Name: aws.String(cluster), RoleArn: role.Role.Arn, ResourcesVpcConfig: &ekstypes.VpcConfigRequest{}})
	if err != nil {
		return err
	}
	_, err = client.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("nexus-boundary"), PolicyDocument: aws.String(
		`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}`)})
	return err
}
