// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Report is a world as it is now.
type Report struct {
	// Dir is its folder.
	Dir string `json:"dir"`
	// Running is true when everything that was started still runs.
	Running bool `json:"running"`
	// Kubeconfig is the path of a client configuration with all rights, AWSEndpoint is the URL of the AWS emulator, and Env is
	// the path of a file for a shell to source that sets both.
	Kubeconfig  string `json:"kubeconfig,omitempty"`
	AWSEndpoint string `json:"awsEndpoint,omitempty"`
	Env         string `json:"env,omitempty"`
	// Processes lists the started processes, by name.
	Processes []Process `json:"processes"`
	// OperatorRestarts counts how often the operator has ended and was started again.
	OperatorRestarts int          `json:"operatorRestarts"`
	Capabilities     []Capability `json:"capabilities"`
}

// Process is one process of a world.
type Process struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Running bool   `json:"running"`
	// Log is the path of its output.
	Log string `json:"log"`
}

// Capability is a NexusAICapability of a world.
type Capability struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase,omitempty"`
	Progress  string `json:"progress,omitempty"`
	// Running is true when it runs as it is declared, with the policies of its security intents.
	Running bool `json:"running"`
}

// ProcessNames are the processes of a world with an operator.
var ProcessNames = []string{daemonProcess, world.Etcd, world.APIServer, world.ControllerManager, world.Scheduler, world.Kwok, world.Moto,
	operatorProcess}

// Status describes the world; when none runs, Running is false and no error is returned.
func (w World) Status(ctx context.Context) (*Report, error) {
	r := &Report{Dir: w.Dir, Processes: []Process{}, Capabilities: []Capability{}}
	s, err := w.readState()
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	alive := s.alive()
	r.Running, r.OperatorRestarts = s.Ready, s.Restarts
	all := s.processes()
	for _, name := range sortedNames(all) {
		p := Process{Name: name, PID: all[name], Running: alive[name] != 0, Log: w.logOf(name)}
		r.Running = r.Running && p.Running
		r.Processes = append(r.Processes, p)
	}
	if alive[daemonProcess] == 0 {
		return r, nil
	}
	r.Kubeconfig, r.AWSEndpoint, r.Env = s.Kubeconfig, s.AWS, w.file(fileEnv)
	if !r.Running {
		return r, nil
	}
	capabilities, err := w.capabilities(ctx, s)
	for _, c := range capabilities {
		phase, _, _ := unstructured.NestedString(c.Object, "status", "phase")
		progress, _, _ := unstructured.NestedString(c.Object, "status", "progress")
		r.Capabilities = append(r.Capabilities, Capability{c.GetNamespace(), c.GetName(), phase, progress, isRunning(c)})
	}
	return r, err
}

// RunningProcesses returns the names of the processes that Down would stop.
func (w World) RunningProcesses(context.Context) ([]string, error) {
	s, err := w.readState()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return sortedNames(s.alive()), err
}

func (w World) logOf(process string) string {
	switch process {
	case daemonProcess:
		return w.file(fileDaemon)
	case operatorProcess:
		return w.file(fileOperator)
	default:
		return w.file(filepath.Join(folderWorld, process+".log"))
	}
}

func (w World) capabilities(ctx context.Context, s state) ([]*unstructured.Unstructured, error) {
	c, err := w.connect(s.Kubeconfig, io.Discard)
	if err != nil {
		return nil, err
	}
	return c.allCapabilities(ctx)
}

// Show prints the existing resources at AWS and, in the namespaces of the capabilities, the objects in the cluster.
func (w World) Show(ctx context.Context, out io.Writer) error {
	s, err := w.readState()
	if err != nil {
		return err
	}
	c, err := w.connect(s.Kubeconfig, out)
	if err != nil {
		return err
	}
	capabilities, err := c.allCapabilities(ctx)
	if err != nil {
		return err
	}
	return c.show(ctx, s.AWS, capabilities)
}

// Runs reports whether the world has a process that holds it.
func (w World) Runs() bool {
	s, err := w.readState()
	return err == nil && s.alive()[daemonProcess] != 0
}

// Exists reports whether the folder has a world, be it running or left over.
func (w World) Exists() bool {
	_, err := os.Stat(w.file(fileState))
	return err == nil
}

func sortedNames(processes map[string]int) []string { return slices.Sorted(maps.Keys(processes)) }
