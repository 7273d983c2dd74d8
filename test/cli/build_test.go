// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/optree"
	"github.com/nexus-operator/nexus-operator/internal/testkit/registry"
)

const builderAccount = "123456789012"

// builds holds what the tests read of a build's JSON.
type builds struct {
	Image, Digest, PreviousDigest string
	Pushed, DryRun                bool
	Changes                       []struct{ Object, Action string }
	Notes                         []string
}

// ecrOf starts the registry of the account.
func (x *tool) ecrOf() (*registry.ECR, *ecr.Client) {
	x.Helper()
	cfg := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	return registry.StartECR(x, builderAccount, cfg), ecr.NewFromConfig(cfg)
}

// build runs the verb with JSON as its output.
func (x *tool) build(env []string, args ...string) builds {
	x.Helper()
	a := x.runAs(env, "", append(append([]string{"build"}, args...), "-o", "json")...)
	var b builds
	if err := json.Unmarshal([]byte(a.out), &b); err != nil || a.code != 0 {
		x.Fatalf("exit code %d, %v\n%s\n%s", a.code, err, a.out, a.err)
	}
	return b
}

// withoutRepository deletes a repository of the account, before the test and after it.
func (x *tool) withoutRepository(c *ecr.Client, name string) {
	remove := func() {
		_, _ = c.DeleteRepository(x.Ctx(), &ecr.DeleteRepositoryInput{RepositoryName: &name, Force: true})
	}
	remove()
	x.Cleanup(remove)
}

func TestBuildOperator_PushesToECROnce(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	r, images := x.ecrOf()
	x.withoutRepository(images, "nexus-operator")
	tree := optree.Write(t, "one")
	env := append(x.admin(), append(r.Env(), goEnv(t)...)...)
	mark := x.World.AWS().Mark()
	want := r.Host + "/nexus-operator:" + optree.Release
	dry := x.build(env, "operator", "--source", tree, "--dry-run")
	if dry.Image != want || !dry.DryRun || dry.Digest != "" || len(dry.Changes) != 1 || len(x.ownWrites(mark)) > 0 || r.Uploads() > 0 {
		t.Errorf("%+v; writes %v, %d uploads", dry, x.ownWrites(mark), r.Uploads())
	}
	x.wants(x.runAs(env, "", "build", "operator", "--source", tree, "--dry-run"), 0, "would be pushed: "+want,
		"would: create the image repository")

	first := x.build(env, "operator", "--source", tree)
	if !first.Pushed || first.PreviousDigest != "" || len(first.Notes) > 0 {
		t.Errorf("%+v", first)
	}
	x.ecrShows(images, first.Digest)
	tags, err := images.ListTagsForResource(x.Ctx(),
		&ecr.ListTagsForResourceInput{ResourceArn: aws.String("arn:aws:ecr:ap-southeast-1:" + builderAccount + ":repository/nexus-operator")})
	if err != nil || len(tags.Tags) != 2 {
		t.Errorf("the repository has the tags %+v %v", tags, err)
	}

	mark, sent := x.World.AWS().Mark(), r.Uploads()
	if again := x.build(env, "operator", "--source", optree.Write(t, "one")); again.Pushed || again.Digest != first.Digest ||
		again.PreviousDigest != first.Digest {
		t.Errorf("%+v", again)
	}
	if r.Uploads() != sent || len(x.ownWrites(mark)) > 0 {
		t.Errorf("a second build sent %d uploads and wrote %v", r.Uploads()-sent, x.ownWrites(mark))
	}

	// A repository that was deleted and made again has none of its images.
	if _, err := images.DeleteRepository(x.Ctx(),
		&ecr.DeleteRepositoryInput{RepositoryName: aws.String("nexus-operator"), Force: true}); err != nil {
		t.Fatal(err)
	}
	if again := x.build(env, "operator", "--source", tree); !again.Pushed || again.Digest != first.Digest || again.PreviousDigest != "" {
		t.Errorf("%+v", again)
	}
	x.ecrShows(images, first.Digest)

	layout := filepath.Join(t.TempDir(), "image")
	if other := x.build(env, "operator", "--source", optree.Write(t, "two"), "--push", want, "--layout", layout); !other.Pushed ||
		other.PreviousDigest != first.Digest {
		t.Errorf("%+v", other)
	}
	if text, err := os.ReadFile(filepath.Join(layout, "index.json")); err != nil || !strings.Contains(string(text), optree.Release) {
		t.Errorf("%s %v", text, err)
	}
}

// ecrShows fails the test unless ECR has the image of both platforms under the version, and those of the platforms without a tag.
func (x *tool) ecrShows(c *ecr.Client, digest string) {
	x.Helper()
	found, err := c.DescribeImages(x.Ctx(), &ecr.DescribeImagesInput{RepositoryName: aws.String("nexus-operator")})
	if err != nil {
		x.Fatal(err)
	}
	tags := map[string][]string{}
	for _, i := range found.ImageDetails {
		tags[aws.ToString(i.ImageDigest)] = i.ImageTags
	}
	if len(tags) != 3 || !slices.Equal(tags[digest], []string{optree.Release}) {
		x.Errorf("ECR has the images %v, want %s and two without a tag", tags, digest)
	}
}

// goEnv returns what the program go needs beside a home.
func goEnv(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "GOROOT", "GOTOOLCHAIN"} {
		if v := os.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return append(out, "GOCACHE="+filepath.Join(cache, "go-build"))
}

func TestBuildOperator_NeedsNoCluster(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	r, images := x.ecrOf()
	x.withoutRepository(images, "team/operator")
	env := append(append(x.admin(), "KUBECONFIG=/nonexistent"), append(r.Env(), goEnv(t)...)...)
	tree := optree.Write(t, "one")
	got := x.build(env, "operator", "--source", tree, "--arch", "amd64", "--push", r.Host+"/team/operator:v1")
	if !got.Pushed || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "not marked") {
		t.Errorf("%+v", got)
	}
	plain := registry.Start(t)
	if got := x.build(append(goEnv(t), "KUBECONFIG=/nonexistent"), "operator", "--source", tree, "--arch", "amd64", "--push",
		plain+"/operator:v1"); !got.Pushed {
		t.Errorf("without AWS: %+v", got)
	}
	without := []string{"KUBECONFIG=/nonexistent", "HOME=" + t.TempDir()}
	x.wants(x.runAs(without, "", "build", "operator", "--source", tree), 4, "credentials")
	x.wants(x.runAs(append(without, r.Env()...), "", "build", "operator", "--source", tree, "--push", r.Host+"/team/operator:v2"), 4,
		"credentials")
	x.wants(x.runAs(append(x.admin(), "PATH=/nonexistent"), "", "build", "operator", "--source", tree, "--push", plain+"/operator:v2"), 4,
		"go: not found on the PATH", "--binary")
	x.wants(x.runAs(x.admin(), "", "build", "operator", "--source", tree, "--push", "127.0.0.1:1/operator:v2"), 4, "127.0.0.1:1")
	x.wants(x.runAs(append(goEnv(t), x.admin()...), "", "build", "operator", "--source", tree, "--push", plain+"/operator:v3", "--timeout",
		"1ms"), 124, "--timeout")
}

func TestBuildOperator_AnInterruptionKeepsTheTag(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	r, images := x.ecrOf()
	x.withoutRepository(images, "nexus-operator")
	env := append(x.admin(), append(r.Env(), goEnv(t)...)...)
	first := x.build(env, "operator", "--source", optree.Write(t, "one"), "--arch", "amd64")
	held, release := make(chan struct{}, 8), make(chan struct{})
	r.Hold = func() {
		held <- struct{}{}
		<-release
	}
	s := x.begin(env, "build", "operator", "--source", optree.Write(t, "three"), "--arch", "amd64")
	select {
	case <-held:
	case <-time.After(time.Minute):
		t.Fatal("no upload began")
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	x.wants(s.ends(), 130, "has changed nothing")
	close(release)
	r.Hold = nil
	if now := x.build(env, "operator", "--source", optree.Write(t, "one"), "--arch", "amd64",
		"--dry-run"); now.PreviousDigest != first.Digest {
		t.Errorf("the tag names %s, want %s", now.PreviousDigest, first.Digest)
	}
}

func TestBuildApp_PushesWhereTheCapabilityPulls(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	r, images := x.ecrOf()
	x.withoutRepository(images, "app/backend")
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.Backend.Image = r.Host + "/app/backend:v1"
	c.Spec.Suspend = true
	x.Create(c)
	t.Cleanup(func() { x.Remove(&nexusv1.NexusAICapability{ObjectMeta: c.ObjectMeta}) })
	source := t.TempDir()
	for _, name := range []string{"Dockerfile", "main.py"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte("FROM scratch"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docker := engine.Install(t, "docker")
	env := append(x.admin(), append(r.Env(), "PATH="+docker+":"+os.Getenv("PATH"))...)
	name := c.Namespace + "/" + c.Name
	dry := x.build(env, "app", "backend", name, "--source", source, "--dry-run")
	if dry.Image != c.Spec.Backend.Image || len(dry.Changes) != 1 {
		t.Errorf("%+v", dry)
	}
	got := x.build(env, "app", "backend", name, "--source", source, "--platform", "linux/amd64,linux/arm64")
	if !got.Pushed || got.Image != c.Spec.Backend.Image {
		t.Errorf("%+v", got)
	}
	if log := engine.Log(t, docker); strings.Contains(log, "login") || !strings.Contains(log, "--platform linux/arm64") {
		t.Errorf("docker was called with\n%s", log)
	}
	base := registry.Start(t) + "/web:v1"
	x.build(env, "app", "frontend", "--push", base, "--source", source)
	files := x.build(env, "app", "backend", "ncap/"+c.Name, "-n", c.Namespace, "--files", source, "--base", base, "--files-path", "/srv")
	if !files.Pushed || files.PreviousDigest != got.Digest {
		t.Errorf("%+v", files)
	}
	x.wants(x.runAs(append(x.admin(), "PATH=/nonexistent"), "", "build", "app", "backend", name, "--source", source), 4,
		"docker, podman, buildah: not found on the PATH", "--files")
	x.wants(x.runAs(env, "", "build", "app", "backend", name, "--source", source, "--tool", "buildah", "--dry-run"), 4,
		"buildah: not found on the PATH")
	x.wants(x.runAs(append(env, "KUBECONFIG="+x.kubeconfigOf("stranger")), "", "build", "app", "backend", name, "--source", source), 4,
		"cannot get resource")
	x.wants(x.runAs(env, "", "build", "app", "backend", c.Namespace+"/none", "--source", source), 4, "does not exist")
}
