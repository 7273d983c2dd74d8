// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// service reads one service into a component.
type service struct {
	*reader
	entry     entry
	component *appmodel.Component
	probed    bool
}

// readers read the fields of a service that a capability can express, at least in part.
func readers() map[string]func(*service, value) error {
	return map[string]func(*service, value) error{
		"build": (*service).build, "ports": (*service).ports, "expose": (*service).expose, "environment": (*service).environment,
		"env_file":    (*service).envFile,
		"healthcheck": (*service).healthcheck, "deploy": (*service).deploy, "volumes": (*service).volumes, "tmpfs": (*service).tmpfs,
		"user":      (*service).user,
		"read_only": (*service).readOnly, "cap_add": (*service).capAdd, "command": (*service).command, "entrypoint": (*service).entrypoint,
		"depends_on": (*service).dependsOn,
		"scale":      (*service).scale, "cpus": (*service).cpus, "mem_limit": (*service).memLimit, "mem_reservation": (*service).memReservation,
		"stop_grace_period": (*service).gracePeriod,
		"platform":          (*service).platform, "restart": (*service).restart, "secrets": (*service).secrets,
		"privileged": (*service).privileged,
		"gpus":       (*service).gpus,
	}
}

// same are fields without effect on the component, or that were read before.
var same = []string{"image", "profiles", "container_name", "hostname", "cap_drop", "init", "pull_policy", "stdin_open", "tty", "develop",
	"networks", "security_opt", "oom_score_adj"}

// reasons say why the remaining fields are not carried over.
var reasons = map[string]string{
	"network_mode": "pods have their own network; nodes' ports are not theirs",
	"pid":          "pods do not share the processes of the node",
	"ipc":          "pods do not share the memory of the node",
	"labels":       "labels mean nothing to a capability; routes and hosts are those of ingress",
	"logging":      "pods write to their standard output, and the cluster collects it",
	"extra_hosts":  "names are resolved by the DNS of the cluster",
	"dns":          "names are resolved by the DNS of the cluster",
	"devices":      "pods have no devices of the node; request a GPU in resources.limits",
	"links":        "components reach each other by their Services",
	"configs":      "put the file into the image, or its values into variables",
	"working_dir":  "set WORKDIR in the image",
	"sysctls":      "pods meet Pod Security restricted",
	"stop_signal":  "set STOPSIGNAL in the image",
	"models":       "declare a model of Amazon Bedrock with --model",
	"shm_size":     "add a volume to scratchVolumes with medium Memory at /dev/shm",
}

// read reads every field of the service.
func (s *service) read() error {
	all, err := s.entry.entries()
	if err != nil {
		return err
	}
	known := readers()
	for _, e := range all {
		read, has := known[e.key]
		switch {
		case e.isNull() || slices.Contains(same, e.key) || strings.HasPrefix(e.key, "x-"):
		case has:
			if err := read(s, e.value); err != nil {
				return err
			}
		case reasons[e.key] != "":
			s.note(e.value, "is not carried over: %s", reasons[e.key])
		default:
			s.note(e.value, "is not carried over: a capability has no such field")
		}
	}
	s.finish()
	return nil
}

// finish sets the values that follow from several fields.
func (s *service) finish() {
	c := s.component
	if c.Type == "" {
		c.Type = appmodel.TypeWorker
		if c.Spec.Port != nil {
			c.Type = appmodel.TypeService
		}
	}
	if c.Type == appmodel.TypeService && !s.probed {
		s.note(s.entry.value, "has no healthcheck: its pods are ready when GET on ingress.healthCheckPath answers 2xx or 3xx; set another probe in probes.readiness")
	}
	if c.Built != "" && c.Spec.Image == "" {
		c.Spec.Image = "ACCOUNT.dkr.ecr.REGION.amazonaws.com/" + c.Name + ":latest"
		s.note(s.entry.value, "is built from %s and names no image: push it to a registry, for instance with nexusctl build app, and replace image %s", c.Built, c.Spec.Image)
	}
}

func (s *service) note(v value, format string, args ...any) {
	s.app.Notef(s.component.Name, v.at(), format, args...)
}

func (s *service) build(v value) error {
	if v.isScalar() {
		t, err := v.text()
		s.component.Built = t
		return err
	}
	s.component.Built = "."
	if c, has, err := v.get("context"); has || err != nil {
		t, textErr := c.text()
		if err == nil {
			err = textErr
		}
		s.component.Built = t
		return err
	}
	return nil
}

func (s *service) expose(v value) error {
	items, err := v.items()
	for _, item := range items {
		text, err := item.text()
		if err != nil {
			return err
		}
		p, err := readPort(item, text)
		if err != nil {
			return err
		}
		s.addPort(item, p)
	}
	return err
}

func (s *service) ports(v value) error {
	items, err := v.items()
	for _, item := range items {
		p, err := portOf(item)
		if err != nil {
			return err
		}
		s.component.Published = true
		s.addPort(item, p)
	}
	return err
}

// addPort takes the first port over; a component has one.
func (s *service) addPort(v value, p port) {
	c := s.component
	switch {
	case p.protocol != "tcp":
		s.note(v, "is not carried over: components answer over TCP, not over %s", p.protocol)
	case c.Spec.Port != nil && *c.Spec.Port == p.first:
	case c.Spec.Port != nil:
		s.note(v, "is not carried over: a component has one port, here %d", *c.Spec.Port)
	default:
		c.Spec.Port = &p.first
		if p.last > p.first {
			s.note(v, "of the range, port %d is carried over: a component has one port", p.first)
		}
	}
}

// port is a range of ports of a container.
type port struct {
	first, last int32
	protocol    string
}

// portOf reads an item of ports in its short or its long form.
func portOf(v value) (port, error) {
	if v.isScalar() {
		text, err := v.text()
		if err != nil {
			return port{}, err
		}
		return readPort(v, text[strings.LastIndexByte(text, ':')+1:])
	}
	at, has, err := v.get("target")
	if err != nil || !has {
		if err == nil {
			err = v.fault("a port needs target, the port of the container")
		}
		return port{}, err
	}
	text, err := at.text()
	if err != nil {
		return port{}, err
	}
	p, err := readPort(at, text)
	if protocol, has, protoErr := v.get("protocol"); has && err == nil {
		p.protocol, err = protocol.text()
	} else if err == nil {
		err = protoErr
	}
	return p, err
}

// readPort reads the port of a container: 80, 80/tcp, or a range such as 3000-3005.
func readPort(v value, text string) (port, error) {
	numbers, protocol, found := strings.Cut(text, "/")
	if !found {
		protocol = "tcp"
	}
	low, high, ranged := strings.Cut(numbers, "-")
	if !ranged {
		high = low
	}
	first, err := appmodel.ReadPort(low)
	if err != nil {
		return port{}, v.fault("%v", err)
	}
	last, err := appmodel.ReadPort(high)
	if err != nil || last < first {
		return port{}, v.fault("%q is no range of ports", numbers)
	}
	return port{first: first, last: last, protocol: strings.ToLower(protocol)}, nil
}

// volumes takes tmpfs over and notes all others.
func (s *service) volumes(v value) error {
	items, err := v.items()
	for _, item := range items {
		if err := s.volume(item); err != nil {
			return err
		}
	}
	return err
}

func (s *service) volume(v value) error {
	if v.isScalar() {
		text, err := v.text()
		if err != nil {
			return err
		}
		s.noteVolume(v, text)
		return nil
	}
	field := map[string]string{}
	for _, key := range []string{"type", "source", "target"} {
		f, has, err := v.get(key)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		if field[key], err = f.text(); err != nil {
			return err
		}
	}
	if field["type"] == "tmpfs" {
		return s.addScratch(v, field["target"])
	}
	s.noteVolume(v, field["source"]+":"+field["target"])
	return nil
}

func (s *service) noteVolume(v value, text string) {
	reason := "pods of a capability keep no files; use a bucket of dataServices.s3 or a table of dataServices.dynamodb, or add a path for temporary files to scratchVolumes"
	switch {
	case strings.Contains(text, "docker.sock"):
		reason = "pods cannot control the containers of the node"
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		reason = "pods do not see files of this machine; put them into the image, or into a bucket of dataServices.s3"
	}
	s.note(v, "%s is not carried over: %s", appmodel.Shown(text), reason)
}

func (s *service) tmpfs(v value) error {
	paths, err := v.texts()
	for _, p := range paths {
		target, _, _ := strings.Cut(p, ":")
		if err := s.addScratch(v, target); err != nil {
			return err
		}
	}
	return err
}

var mountPath = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)

func (s *service) addScratch(v value, target string) error {
	target = path.Clean(target)
	list := &s.component.Spec.ScratchVolumes
	switch {
	case len(target) > 256 || !mountPath.MatchString(target) || strings.HasPrefix(target, "/run/secrets") ||
		strings.HasPrefix(target, "/var/run/secrets"):
		return v.fault("%q is no path for temporary files", target)
	case slices.ContainsFunc(*list, func(have nexusv1.ScratchVolume) bool { return have.MountPath == target }):
	case len(*list) == 8:
		s.note(v, "%s is not carried over: a component has at most 8 volumes for temporary files", target)
	default:
		*list = append(*list, nexusv1.ScratchVolume{Name: fmt.Sprintf("tmp-%d", len(*list)+1), MountPath: target})
	}
	return nil
}

func (s *service) user(v value) error {
	text, err := v.text()
	if err != nil {
		return err
	}
	name, group, _ := strings.Cut(text, ":")
	if id, err := strconv.ParseInt(name, 10, 32); err == nil && id > 0 {
		s.context().RunAsUser = &id
	} else {
		s.note(v, "%s is not carried over: pods do not run as root, and need the number of a user; set a user with a number in the image",
			appmodel.Shown(text))
		return nil
	}
	if gid, err := strconv.ParseInt(group, 10, 32); err == nil && gid >= 0 {
		s.context().RunAsGroup = &gid
	}
	return nil
}

func (s *service) context() *nexusv1.SecurityContextSpec {
	if s.component.Spec.SecurityContext == nil {
		s.component.Spec.SecurityContext = &nexusv1.SecurityContextSpec{}
	}
	return s.component.Spec.SecurityContext
}

func (s *service) readOnly(v value) error {
	on, err := v.flag()
	if on {
		s.context().ReadOnlyRootFilesystem = new(true)
	}
	return err
}

func (s *service) privileged(v value) error {
	on, err := v.flag()
	if on {
		s.note(v, "is not carried over: pods meet Pod Security restricted")
	}
	return err
}

func (s *service) capAdd(v value) error {
	list, err := v.texts()
	for _, name := range list {
		if strings.TrimPrefix(name, "CAP_") == "NET_BIND_SERVICE" {
			s.context().Capabilities = &nexusv1.CapabilitiesSpec{Add: []nexusv1.LinuxCapability{"NET_BIND_SERVICE"}}
			continue
		}
		s.note(v, "%s is not carried over: pods meet Pod Security restricted", appmodel.Shown(name))
	}
	return err
}

func (s *service) command(v value) error { return s.words(v, &s.component.Spec.Args) }

func (s *service) entrypoint(v value) error { return s.words(v, &s.component.Spec.Command) }

// words takes over a command line: a list of words, or a text that is divided as a shell does it.
func (s *service) words(v value, to *[]nexusv1.CommandArgument) error {
	words, err := v.texts()
	if err == nil && v.isScalar() {
		if words, err = shellWords(words[0]); err != nil {
			return v.fault("%v", err)
		}
	}
	if err != nil {
		return err
	}
	if len(words) == 0 {
		s.note(v, "is empty and not carried over: a component runs the command of its image unless it names another one")
		return nil
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "$(", "$$(") // which Kubernetes would replace by a variable
	}
	s.app.SetWords(s.component, v.at(), to, words)
	return nil
}

func (s *service) dependsOn(v value) error {
	var names []string
	if v.node.Kind == 0 || v.isNull() {
		return nil
	}
	if items, err := v.items(); err == nil {
		for _, item := range items {
			text, err := item.text()
			if err != nil {
				return err
			}
			names = append(names, text)
		}
	} else {
		all, err := v.entries()
		if err != nil {
			return v.fault("must be a list of services or a mapping of them")
		}
		for _, e := range all {
			names = append(names, e.key)
		}
	}
	for _, name := range names {
		if !s.isService(name) {
			return v.fault("there is no service %q", name)
		}
	}
	s.note(v, "the order is not carried over: pods start at the same time, so the component must try again until it reaches %s",
		strings.Join(names, ", "))
	return nil
}

// isService reports whether the file has a service, selected or not.
func (s *service) isService(name string) bool {
	root, has, err := value{file: s.entry.file, node: s.root, path: ""}.get("services")
	if err != nil || !has {
		return false
	}
	_, has, err = root.get(name)
	return has && err == nil
}

func (s *service) restart(v value) error {
	text, err := v.text()
	if text == "no" || text == "false" {
		s.note(v, "is not carried over: pods of a component start again whenever they end")
	}
	return err
}

// secrets needs no note where the file declares the secret: that has one.
func (s *service) secrets(v value) error {
	items, err := v.items()
	for _, item := range items {
		s.note(item, "is no file in the pods: read the secret from AWS Secrets Manager, below NEXUS_SECRETS_PREFIX")
	}
	return err
}

func (s *service) platform(v value) error {
	text, err := v.text()
	if err != nil {
		return err
	}
	parts := strings.Split(text, "/")
	if len(parts) > 1 && parts[0] == "linux" && (parts[1] == "amd64" || parts[1] == "arm64") {
		s.component.Spec.NodeSelector = map[string]nexusv1.LabelValue{"kubernetes.io/arch": nexusv1.LabelValue(parts[1])}
		return nil
	}
	s.note(v, "is not carried over: nodes are linux/amd64 or linux/arm64")
	return nil
}

func (s *service) gracePeriod(v value) error {
	seconds, err := secondsOf(v)
	if err == nil {
		s.component.Spec.TerminationGracePeriodSeconds = new(int64(min(max(seconds, 1), 7200)))
	}
	return err
}

// secondsOf reads a duration such as 1m30s, rounded up.
func secondsOf(v value) (int32, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, v.fault("%q is no duration: write it as 1m30s", text)
	}
	return int32(math.Ceil(d.Seconds())), nil
}

func (s *service) scale(v value) error {
	text, err := v.text()
	if err != nil {
		return err
	}
	n, err := appmodel.ReadReplicas(text)
	if err != nil {
		return v.fault("%v", err)
	}
	s.component.Spec.Replicas = &n
	return nil
}

// memory matches sizes as Compose writes them.
var memory = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?$`)

// memoryOf reads a size: a number of bytes, or with a unit of 1024.
func memoryOf(v value) (resource.Quantity, error) {
	text, err := v.text()
	if err != nil {
		return resource.Quantity{}, err
	}
	m := memory.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return resource.Quantity{}, v.fault("%q is no size: write it as 512m", text)
	}
	unit := map[string]string{"k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti"}[strings.ToLower(m[2])]
	q, err := resource.ParseQuantity(m[1] + unit)
	if err != nil {
		return q, v.fault("%q is no size: %v", text, err)
	}
	return q, nil
}

// cpuOf reads a number of CPUs.
func cpuOf(v value) (resource.Quantity, error) {
	text, err := v.text()
	if err != nil {
		return resource.Quantity{}, err
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 10000 {
		return resource.Quantity{}, v.fault("%q is no number of CPUs", text)
	}
	return *resource.NewMilliQuantity(int64(math.Ceil(n*1000)), resource.DecimalSI), nil
}
