// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// job runs the shell steps of the action or of the template as the forge would, in a folder that stands for the checked out repository.
type job struct {
	*tool
	forge *forge
	dir   string
	env   []string
	// steps are the commands, each with the variables that it has besides those of the job.
	steps []jobStep
}

type jobStep struct {
	run string
	env []string
}

func (x *tool) newJob(t *testing.T, gitlab bool, namespace string) *job {
	t.Helper()
	for _, program := range []string{"bash", "curl", "git", "jq"} {
		if _, err := exec.LookPath(program); err != nil && os.Getenv(extent.Variable) == "" { // CI has them
			t.Skipf("the scripts for pull requests need %s: %v", program, err)
		}
	}
	j := &job{tool: x, forge: newForge(t, gitlab), dir: t.TempDir()}
	j.forge.release(t, "0.1.0", x.binary())
	if err := os.Mkdir(filepath.Join(j.dir, "deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	j.env = append(x.planner(namespace), "HOME="+t.TempDir())
	if gitlab {
		j.useTemplate(t)
	} else {
		j.useAction(t)
	}
	j.branchFrom("")
	return j
}

// branchFrom makes the target branch of the pull request one with these manifests.
func (j *job) branchFrom(manifest string) {
	j.Helper()
	dir := filepath.Join(j.dir, "before")
	if j.forge.gitlab {
		dir = j.TempDir()
	}
	if err := os.RemoveAll(dir); err != nil {
		j.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "deploy"), 0o700); err != nil {
		j.Fatal(err)
	}
	name := "app.yaml"
	if manifest == "" {
		name = "README.md"
	}
	if err := os.WriteFile(filepath.Join(dir, "deploy", name), []byte(manifest), 0o600); err != nil {
		j.Fatal(err)
	}
	if !j.forge.gitlab { // a step of the workflow checks out the branch
		return
	}
	j.git(dir, "init", "--quiet")
	j.git(dir, "add", ".")
	j.git(dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=before")
	j.git(dir, "config", "uploadpack.allowAnySHA1InWant", "true") // as GitLab does
	j.git(j.dir, "init", "--quiet")
	j.git(j.dir, "config", "remote.origin.url", dir)
	j.env = append(j.env, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+j.git(dir, "rev-parse", "HEAD"))
}

func (j *job) git(dir string, args ...string) string {
	j.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		j.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// expression is an expression of GitHub Actions.
var expression = regexp.MustCompile(`\$\{\{ *([a-z.-]+) *\}\}`)

// useAction takes the steps of the action with the inputs of the documented workflow.
func (j *job) useAction(t *testing.T) {
	t.Helper()
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				If, Shell, Run string
				Env            map[string]string
			}
		}
	}
	readYAML(t, "../../.github/actions/plan/action.yml", &action)
	values := map[string]string{"github.token": forgeToken, "runner.temp": t.TempDir()}
	for name, input := range action.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range documentedInputs(t) {
		if _, known := action.Inputs[name]; !known {
			t.Errorf("the workflow sets the input %s, which the action does not have", name)
		}
		values["inputs."+name] = fmt.Sprint(value)
	}
	values["inputs.releases"] = j.forge.URL + "/releases"
	expand := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			value, known := values[expression.FindStringSubmatch(e)[1]]
			if !known {
				t.Errorf("the test does not know the value of %s", e)
			}
			return value
		})
	}
	for _, s := range action.Runs.Steps {
		if s.If != "" && s.If != "inputs.version != ''" || s.Shell != "bash" {
			t.Fatalf("the test knows no step with if: %s and shell: %s", s.If, s.Shell)
		}
		step := jobStep{run: s.Run}
		for name, value := range s.Env {
			step.env = append(step.env, name+"="+expand(expand(value))) // defaults have expressions, too
		}
		j.steps = append(j.steps, step)
	}
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"pull_request": {"number": 7, "labels": []}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs("../../.github/actions/plan")
	if err != nil {
		t.Fatal(err)
	}
	j.env = append(j.env, "GITHUB_API_URL="+j.forge.URL, "GITHUB_REPOSITORY=acme/app", "GITHUB_EVENT_PATH="+event, "GITHUB_ACTION_PATH="+path,
		"RUNNER_TEMP="+values["runner.temp"], "GITHUB_PATH="+filepath.Join(t.TempDir(), "path"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(j.dir, "summary.md"))
}

// documentedInputs are the inputs in the workflow that the documentation shows.
func documentedInputs(t *testing.T) map[string]any {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	readYAML(t, "../../docs/pipelines/github-plan.yaml", &workflow)
	for _, s := range workflow.Jobs["plan"].Steps {
		if strings.Contains(s.Uses, "/.github/actions/plan@") {
			return s.With
		}
	}
	t.Fatal("the documented workflow does not use the action")
	return nil
}

// useTemplate takes the commands of the template for GitLab, except for those that install packages and write the kubeconfig of EKS.
func (j *job) useTemplate(t *testing.T) {
	t.Helper()
	var template struct {
		Plan struct {
			BeforeScript []string `json:"before_script"`
			Script       []string
			Variables    map[string]string
		}
	}
	readYAML(t, "../../docs/pipelines/gitlab-plan.yaml", &template)
	vars := template.Plan.Variables
	vars["PLAN_TOKEN"] = strings.ReplaceAll(vars["PLAN_TOKEN"], "$GITLAB_TOKEN", forgeToken)
	vars["NEXUSCTL_RELEASES"] = j.forge.URL + "/releases"
	vars["NEXUSCTL_DIR"] = t.TempDir()
	vars["AWS_WEB_IDENTITY_TOKEN_FILE"] = filepath.Join(t.TempDir(), "token")
	for name, value := range vars {
		j.env = append(j.env, name+"="+value)
	}
	j.env = append(j.env, "CI_API_V4_URL="+j.forge.URL+"/api/v4", "CI_PROJECT_ID=42", "CI_MERGE_REQUEST_IID=7", "CI_PROJECT_DIR="+j.dir,
		"AWS_TOKEN=x")
	commands := slices.DeleteFunc(slices.Concat(template.Plan.BeforeScript, template.Plan.Script), func(line string) bool {
		return strings.HasPrefix(line, "apk add ") || strings.HasPrefix(line, "nexusctl kubeconfig ")
	})
	j.steps = []jobStep{{run: strings.Join(commands, "\n")}}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// run runs the job with manifests and more variables.
func (j *job) run(manifest string, more ...string) answer {
	j.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, "deploy", "app.yaml"), []byte(manifest), 0o600); err != nil {
		j.Fatal(err)
	}
	if j.forge.gitlab { // a job begins with an empty folder
		if err := os.RemoveAll(filepath.Join(j.dir, "before")); err != nil {
			j.Fatal(err)
		}
	}
	a := answer{}
	path := os.Getenv("PATH")
	for _, s := range j.steps {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.run)
		cmd.Dir = j.dir
		cmd.Env = slices.Concat([]string{"PATH=" + path}, j.env, s.env, more)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		a = answer{out: a.out + out.String(), err: a.err + errs.String(), code: cmd.ProcessState.ExitCode()}
		if err != nil {
			return a
		}
		path = j.addedPath() + os.Getenv("PATH")
	}
	return a
}

// addedPath returns the folders that a step has added to the PATH of later steps.
func (j *job) addedPath() string {
	for _, e := range j.env {
		if file, found := strings.CutPrefix(e, "GITHUB_PATH="); found {
			added, err := os.ReadFile(file)
			if err != nil {
				j.Fatal(err)
			}
			return strings.ReplaceAll(string(added), "\n", ":")
		}
	}
	return ""
}

// hasOneComment fails unless the job has one comment, with these texts.
func (j *job) hasOneComment(texts ...string) {
	j.Helper()
	own := j.forge.own()
	if len(own) != 1 {
		j.Fatalf("%d comments: %+v", len(own), own)
	}
	for _, text := range append(texts, "<!-- nexusctl plan: deploy/ -->\n") {
		if !strings.Contains(own[0].body, text) {
			j.Errorf("no %q in the comment:\n%s", text, own[0].body)
		}
	}
}

// wrote fails unless the job sent these writes to the API since the last look.
func (j *job) wrote(requests ...string) {
	j.Helper()
	got := j.forge.writes()
	for i := range got {
		got[i] = regexp.MustCompile(`/1[0-9]{3}$`).ReplaceAllString(got[i], "/ID")
	}
	if !slices.Equal(got, requests) {
		j.Errorf("the job sent %q, want %q", got, requests)
	}
}

const (
	githubCreate, githubReplace = "POST /repos/acme/app/issues/7/comments", "PATCH /repos/acme/app/issues/comments/ID"
	gitlabCreate, gitlabReplace = "POST /api/v4/projects/42/merge_requests/7/notes", "PUT /api/v4/projects/42/merge_requests/7/notes/ID"
)

func TestPullRequest_APlanThatDeletesDataNeedsTheLabel(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/test-capability.yaml")
	c.Spec.DataServices.S3 = &nexusv1.S3Spec{Enabled: c.Spec.DataServices.S3.Enabled, ForceDestroy: true,
		Buckets: []nexusv1.BucketSpec{{Name: "call-data"}, {Name: "dropped"}}}
	forges := map[string]bool{"GitHub": false, "GitLab": true}
	jobs := map[string]*job{}
	for name, gitlab := range forges {
		j := x.newJob(t, gitlab, c.Namespace)
		jobs[name] = j
		create, replace := githubCreate, githubReplace
		if gitlab {
			create, replace = gitlabCreate, gitlabReplace
		}
		for range 101 {
			j.forge.add(foreignUser, "<!-- nexusctl plan: deploy/ -->\nSomebody else's comment.")
		}
		x.wants(j.run(x.manifest(c)), 0, "Plan: ", " to create")
		j.hasOneComment("### Plan: ", "| S3Bucket myapp-dev/myapp-dev-dropped | create | create | safe |", "s3:CreateBucket")
		j.wrote(create)
		x.wants(j.run(x.manifest(c)), 0)
		j.hasOneComment("### Plan: ")
		j.wrote(replace)
	}
	x.noRequests(c.Namespace)

	x.apply(x.manifest(c))
	x.Running(c)
	if _, err := x.s3().PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: aws.String("myapp-dev-dropped"), Key: aws.String("k"), Body: strings.NewReader("v")}); err != nil {
		bucket := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "myapp-dev-dropped", Namespace: c.Namespace}}
		t.Fatalf("%v: %v %+v", err, x.Get(bucket), bucket.Status)
	}
	next := c.DeepCopy()
	next.Spec.DataServices.S3.Buckets = next.Spec.DataServices.S3.Buckets[:1]
	held := x.manifest(next)
	consenting := strings.Replace(held, "metadata:\n", "metadata:\n  annotations: {nexus.ai/delete-data: myapp-dev-dropped}\n", 1)
	for name, j := range jobs {
		t.Run(name, func(t *testing.T) {
			x.wants(j.run(x.manifest(c)), 0, "No changes.")
			j.hasOneComment("### No changes.")
			x.wants(j.run(held), 0, "waits for the bucket to be empty: it holds 1 object version")
			x.wants(j.run(consenting), 5, "deletes data")
			j.hasOneComment("[!CAUTION]", "This plan **deletes data**. The check fails until somebody adds the label `allow-data-loss`.",
				"deletes data |", "s3:DeleteObjectVersion (deletes data)")
			j.forge.labels = []string{"bug", "allow-data-loss"}
			x.wants(j.run(consenting), 0)
			j.hasOneComment("[!WARNING]", "The label `allow-data-loss` allows it.", "deletes data |")
			j.forge.labels = nil
			j.branchFrom(x.manifest(c))
			x.wants(j.run(""), 5, "deletes data")
			j.hasOneComment("[!CAUTION]", "| S3Bucket myapp-dev/myapp-dev-dropped | delete | delete | deletes data |")
			j.branchFrom(strings.Replace(x.manifest(c), "name: "+c.Name+"\n", "name: never-applied\n", 1))
			x.wants(j.run(x.manifest(c)), 0, "No changes.")
		})
	}
	x.noRequests(c.Namespace)
}

func TestPullRequest_FailuresSayWhatToDo(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	long := []string{}
	for i := range 8 { // each has more than 10,000 characters
		bucket := subjects["S3Bucket"].make(metav1.ObjectMeta{Name: fmt.Sprintf("long-%d", i), Namespace: x.Namespace},
			v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "none"}})
		bucket.CommonSpec().Tags = map[string]v1alpha1.TagValue{}
		for n := range 40 {
			bucket.CommonSpec().Tags[fmt.Sprintf("key-%d", n)] = v1alpha1.TagValue(strings.Repeat("x", 250))
		}
		long = append(long, x.manifest(bucket))
	}
	short := x.manifest(subjects["S3Bucket"].make(metav1.ObjectMeta{Name: "short", Namespace: x.Namespace},
		v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "none"}}))
	for name, gitlab := range map[string]bool{"GitHub": false, "GitLab": true} {
		t.Run(name, func(t *testing.T) {
			j := x.newJob(t, gitlab, x.Namespace)
			create, replace, rights := githubCreate, githubReplace, "the job needs the permission pull-requests: write"
			if gitlab {
				create, replace, rights = gitlabCreate, gitlabReplace, "the token needs the scope api"
			}
			j.forge.refuses(func(method, _ string) int { return map[string]int{"GET": 403}[method] })
			x.wants(j.run(short), 4, "was refused: status 403, Refused by the test: "+rights)
			j.wrote()
			x.wants(j.run(short, "PLAN_TOKEN=another"), 4, "status 401, Bad credentials")

			failures := 2
			j.forge.refuses(func(method, _ string) int {
				if method == "GET" && failures > 0 {
					failures--
					return 503
				}
				return map[string]int{"POST": 502}[method]
			})
			x.wants(j.run(short), 4, "failed: status 502, Refused by the test")
			j.wrote(create) // a second one could write a second comment

			j.forge.refuses(func(string, string) int { return 0 })
			x.wants(j.run(short), 0)
			j.wrote(create)
			x.wants(j.run(short+"  {\n"), 2, "nexusctl: ")
			j.hasOneComment("### The plan could not be made (exit code 2)", "    nexusctl: ")
			j.wrote(replace)

			x.wants(j.run(strings.Join(long, "---\n")), 0)
			j.hasOneComment("### Plan: 8 to create")
			if body := j.forge.own()[0].body; !gitlab && (len(body) < 60000 || !strings.HasSuffix(body,
				"\n```\n\n</details>\n\nThe plan is too long for a comment: its end is left out. The log of the job has all of it.\n")) {
				t.Errorf("%d characters, the last %q", len(body), body[max(0, len(body)-300):])
			}
			for file := range j.forge.releases {
				if strings.HasSuffix(file, "SHA256SUMS") {
					j.forge.releases[file] = []byte(strings.Repeat("0", 64) + "  nexusctl-0.1.0-linux-amd64.tar.gz\n" + strings.Repeat("0", 64) +
						"  nexusctl-0.1.0-linux-arm64.tar.gz\n")
				}
			}
			j.forge.writes()
			if a := j.run(short); a.code == 0 || !strings.Contains(a.out+a.err, "FAILED") || len(j.forge.writes()) > 0 {
				t.Errorf("a wrong checksum: exit code %d\n%s%s", a.code, a.out, a.err)
			}
		})
	}
	x.noRequests(x.Namespace)
}
