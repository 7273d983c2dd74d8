// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// service reads one service into a component.
type service struct {
	draft
	entry   entry
	options Options
	// root has the names of all services of the file.
	root   *yaml.Node
	probed bool
}

// draft is the component that a service becomes, in its application.
type draft struct {
	app       *appmodel.App
	component *appmodel.Component
}

func (d draft) note(v value, format string, args ...any) {
	d.app.Notef(d.component.Name, v.at(), format, args...)
}

// readers read the fields of a service that a capability can express, at least in part.
func (s *service) readers() map[string]func(value) error {
	files, process, limits := volumes{s.draft}, rights{s.draft}, resources{s.draft}
	return map[string]func(value) error{
		"build": s.build, "ports": s.ports, "expose": s.expose, "environment": s.environment, "env_file": s.envFile,
		"healthcheck": s.healthcheck, "deploy": s.deploy, "command": s.command, "entrypoint": s.entrypoint,
		"depends_on": s.dependsOn, "scale": s.scale, "stop_grace_period": s.gracePeriod, "platform": s.platform,
		"restart": s.restart, "secrets": s.secrets,
		"volumes": files.read, "tmpfs": files.tmpfs,
		"user": process.user, "read_only": process.readOnly, "privileged": process.privileged, "cap_add": process.capAdd,
		"cpus": limits.cpus, "mem_limit": limits.memLimit, "mem_reservation": limits.memReservation,
		"gpus": limits.gpus,
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
	known := s.readers()
	for _, e := range all {
		read, has := known[e.key]
		switch {
		case e.isNull() || slices.Contains(same, e.key) || strings.HasPrefix(e.key, "x-"):
		case has:
			if err := read(e.value); err != nil {
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

// deploy reads the number of replicas of a service, and its resources.
func (s *service) deploy(v value) error {
	return v.each(func(e entry) error {
		switch e.key {
		case "replicas":
			return s.scale(e.value)
		case "resources":
			return resources{s.draft}.deploy(e.value)
		case "mode":
			return s.deployMode(e.value)
		case "restart_policy": // pods start again in any case
		default:
			s.note(e.value, "is not carried over: a capability has no such field")
		}
		return nil
	})
}

func (s *service) deployMode(v value) error {
	text, err := v.text()
	if err == nil && text != "replicated" {
		s.note(v, "%s is not carried over: a component has a number of replicas", appmodel.Shown(text))
	}
	return err
}
