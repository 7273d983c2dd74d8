// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// session is nexusctl while it runs.
type session struct {
	*tool
	cmd  *exec.Cmd
	mu   sync.Mutex
	out  bytes.Buffer
	errs bytes.Buffer
	done chan struct{}
}

// locked writes to a buffer of the session.
type locked struct {
	s *session
	b *bytes.Buffer
}

// Write implements io.Writer.
func (l locked) Write(p []byte) (int, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.b.Write(p)
}

// admin is the environment of a person with every right.
func (x *tool) admin() []string {
	return []string{"KUBECONFIG=" + x.World.Kubeconfig(), "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=a"}
}

// begin starts nexusctl and does not wait for its end.
func (x *tool) begin(env []string, args ...string) *session {
	x.Helper()
	s := &session{tool: x, done: make(chan struct{})}
	s.cmd = exec.Command(x.binary(), args...)
	s.cmd.Stdout, s.cmd.Stderr = locked{s, &s.out}, locked{s, &s.errs}
	s.start(env)
	return s
}

func (s *session) start(env []string) {
	s.Helper()
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.TempDir(), "AWS_ENDPOINT_URL=" + s.aws.URL(),
		"AWS_REGION=ap-southeast-1",
		"AWS_EC2_METADATA_DISABLED=true", "OPERATOR_NAMESPACE=default"}, env...)
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	s.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
	})
}

// printed returns what it has written so far.
func (s *session) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// shows waits until the output holds a text.
func (s *session) shows(text string) {
	s.Helper()
	s.Eventually(60*time.Second, fmt.Sprintf("the output to show %q", text), func() error {
		if got := s.printed(); !strings.Contains(got, text) {
			return errors.New(got)
		}
		return nil
	})
}

// ends waits for the end.
func (s *session) ends() answer {
	s.Helper()
	select {
	case <-s.done:
	case <-time.After(90 * time.Second):
		s.Fatalf("nexusctl does not end:\n%s", s.printed())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return answer{out: s.out.String(), err: s.errs.String(), code: s.cmd.ProcessState.ExitCode()}
}

// beginOnTerminal starts nexusctl on a terminal, to which its standard output and standard error go.
func (x *tool) beginOnTerminal(env []string, args ...string) *session {
	x.Helper()
	s := &session{tool: x, done: make(chan struct{})}
	mine, its := terminal(x)
	s.cmd = exec.Command(x.binary(), args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = its, its, its
	copied := make(chan struct{})
	s.Cleanup(func() { // after the end of nexusctl, which has the terminal open too
		_ = its.Close()
		<-copied
		_ = mine.Close()
	})
	s.start(append(env, "TERM=xterm"))
	go func() {
		defer close(copied)
		b := make([]byte, 4096)
		for {
			n, err := mine.Read(b)
			_, _ = locked{s, &s.out}.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	return s
}

// terminal opens a pseudo terminal of 100 columns.
func terminal(t testing.TB) (mine, its *os.File) {
	t.Helper()
	mine, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(mine.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})); err != nil {
		t.Fatal(err)
	}
	if its, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return mine, its
}

// proxied is the environment of a person with every right whose way to the API server can be broken.
func (x *tool) proxied() (*kubeproxy.Proxy, []string) {
	x.Helper()
	p, err := kubeproxy.Start(x.World.Config())
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = p.Close() })
	path := filepath.Join(x.TempDir(), "kubeconfig")
	if err := world.WriteKubeconfig(path, p.Config()); err != nil {
		x.Fatal(err)
	}
	return p, append(x.admin(), "KUBECONFIG="+path)
}

// withoutRights returns the environment of a user whom RBAC gives nothing.
func (x *tool) withoutRights() []string {
	x.Helper()
	return append(x.admin(), "KUBECONFIG="+x.kubeconfigOf("nobody"))
}

func (x *tool) kubeconfigOf(user string) string {
	x.Helper()
	config, err := x.World.UserConfig(user)
	if err != nil {
		x.Fatal(err)
	}
	path := filepath.Join(x.TempDir(), "kubeconfig")
	if err := world.WriteKubeconfig(path, config); err != nil {
		x.Fatal(err)
	}
	return path
}

// rights gives a user rights in a namespace.
func (x *tool) rights(user, namespace string, rules ...rbacv1.PolicyRule) {
	x.Helper()
	meta := metav1.ObjectMeta{Name: user, Namespace: namespace}
	x.Create(&rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}})
	x.Cleanup(func() { x.Remove(&rbacv1.RoleBinding{ObjectMeta: meta}, &rbacv1.Role{ObjectMeta: meta}) })
}

func rule(verbs, group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Split(verbs, ","), APIGroups: []string{group}, Resources: resources}
}
