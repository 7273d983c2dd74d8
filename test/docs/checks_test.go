// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
)

// root is the tree whose pages are checked.
const root = "../.."

// unchecked are programs whose command lines are not checked, with the reason. Programs of every Unix need none.
var unchecked = map[string]string{
	"aws": "not part of the test bed; the tests of the kinds make the calls", "jq": "not part of the test bed",
	"openssl":   "not part of the test bed",
	"sha256sum": "dev/release checks the file", "cosign": "dev/release checks the signature",
	"crane":  "not part of the test bed; dev/release unpacks the layout",
	"skopeo": "not part of the test bed", "velero": "not part of the test bed; test/e2e restores without it",
	"terraform": "not part of the test bed", "kubeconform": "dev/release checks the schemas",
	"kubectl krew":               "a plugin that is not part of the test bed; dev/release checks its manifest",
	"examples/any-type/lives.sh": "test/demo runs it in full runs",
	"sudo":                       "installs on the reader's machine", "tar": "dev/release unpacks the archive",
}

// unix are programs that need no check.
var unix = []string{"sed", "grep", "cat", "split", "read", "source", "xargs", "echo"}

// given are the files that a page assumes the reader to have, and those that an earlier command writes.
var given = []string{"capability.yaml", "provider.yaml", "state.json", "x.yaml", "FILE", "deploy/"}

// checker judges command lines by the programs that they call.
type checker struct {
	kubectl kubectl
	// skipped counts the commands of programs that are not checked.
	skipped map[string]int
	// inSentence is true for a command within a sentence: it may be without arguments.
	inSentence bool
}

// check returns what is wrong with a command.
func (c *checker) check(cmd docblocks.Command) error {
	program, args := cmd.Words[0], cmd.Words[1:]
	if err := filesExist(cmd.Words); err != nil {
		return err
	}
	switch {
	case program == "nexusctl":
		return c.checkNexusctl(args)
	case program == "nexus-operator" && len(args) > 0 && args[0] == "iam-policy": // has the flags of the command of nexusctl
		return c.checkNexusctl(append([]string{"iam", "policy"}, args[1:]...))
	case program == "kubectl" && len(args) > 0 && args[0] == "nexus": // nexusctl as a plugin
		return c.checkNexusctl(args[1:])
	case program == "kubectl" && len(args) > 0 && unchecked["kubectl "+args[0]] != "":
		c.skipped["kubectl "+args[0]]++
		return nil
	case program == "kubectl":
		return c.kubectl.check(args)
	case program == "make":
		return checkMake(args)
	case program == "helm":
		return checkHelm(args)
	case program == "go":
		return checkGo(args)
	case strings.HasPrefix(program, "./"):
		_, err := os.Stat(filepath.Join(root, "scripts", program))
		return err
	case unchecked[program] != "":
		c.skipped[program]++
		return nil
	case slices.Contains(unix, program):
		return nil
	default:
		return fmt.Errorf("nothing checks the program %s: add a check, or the reason why not", program)
	}
}

// filesExist checks the paths in a command line that lead into the tree.
func filesExist(words []string) error {
	for _, w := range words[1:] {
		_, value, _ := strings.Cut(w, "=")
		for _, path := range []string{w, value} {
			path = strings.TrimPrefix(strings.TrimPrefix(path, "../"), "./")
			first, _, below := strings.Cut(path, "/")
			if !below || first == "" || strings.ContainsAny(path, "$*{,") || strings.HasPrefix(path, "bin/") {
				continue
			}
			if f, err := os.Stat(filepath.Join(root, first)); err != nil || !f.IsDir() {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				return fmt.Errorf("%s does not exist", path)
			}
		}
	}
	return nil
}

// manifestExists checks the value of a flag that names a manifest.
func manifestExists(name string) error {
	if name == "-" || slices.Contains(given, name) || strings.Contains(name, "://") {
		return nil
	}
	for _, folder := range []string{root, filepath.Join(root, "scripts")} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s does not exist, and no page says that the reader has it", name)
}

func checkMake(args []string) error {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	for _, a := range args {
		if !strings.Contains(a, "=") && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(a)+`:`).Match(makefile) {
			return fmt.Errorf("the Makefile has no target %s", a)
		}
	}
	return nil
}

// helmFlags are the flags of Helm that pages use; true for those with a value.
var helmFlags = map[string]bool{"--namespace": true, "--set": true, "--create-namespace": false, "--reuse-values": false,
	"--take-ownership": false}

func checkHelm(args []string) error {
	if len(args) < 3 || !slices.Contains([]string{"install", "upgrade"}, args[0]) {
		return fmt.Errorf("helm %s is none of install and upgrade with a release and a chart", strings.Join(args, " "))
	}
	for i := 3; i < len(args); i++ {
		hasValue, known := helmFlags[args[i]]
		switch {
		case !known:
			return fmt.Errorf("helm %s has no flag %s, or it is not on the list of the test", args[0], args[i])
		case hasValue && i+1 == len(args):
			return fmt.Errorf("%s has no value", args[i])
		case hasValue:
			i++
			if args[i-1] == "--set" {
				if err := chartHasValue(args[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// chartHasValue checks that the chart knows the value that --set sets.
func chartHasValue(assignment string) error {
	path, _, _ := strings.Cut(assignment, "=")
	var at any = map[string]any{}
	text, err := os.ReadFile(filepath.Join(root, "charts/nexus-operator/values.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &at)
	}
	if err != nil {
		return err
	}
	for _, key := range strings.Split(path, ".") {
		key, _, inList := strings.Cut(key, "[")
		values, isMap := at.(map[string]any)
		if !isMap || len(values) == 0 { // free to the user
			return nil
		}
		value, has := values[key]
		if !has {
			return fmt.Errorf("the chart has no value %s", path)
		}
		if at = value; inList {
			return nil
		}
	}
	return nil
}

// checkGo checks that packages exist, and that a pattern matches one of their tests or benchmarks.
func checkGo(args []string) error {
	if len(args) == 0 || args[0] == "tool" {
		return nil
	}
	var patterns, folders []string
	for i, a := range args {
		switch {
		case (a == "-run" || a == "-bench") && i+1 < len(args):
			patterns = append(patterns, strings.Split(strings.Split(args[i+1], "|")[0], "/")[0])
		case strings.HasPrefix(a, "./"):
			folders = append(folders, a)
		}
	}
	for _, folder := range folders {
		if err := packageHas(filepath.Join(root, folder), patterns); err != nil {
			return err
		}
		if args[0] == "run" { // what follows is the program's
			return nil
		}
	}
	return nil
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)

// packageHas checks that each pattern matches a test of a package. The pattern ^$ matches none on purpose.
func packageHas(folder string, patterns []string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s is no package (%w)", folder, err)
	}
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for _, m := range testName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	for _, p := range patterns {
		pattern, err := regexp.Compile(p)
		if err != nil {
			return err
		}
		if p != "^$" && !slices.ContainsFunc(names, pattern.MatchString) {
			return fmt.Errorf("%s has no test or benchmark %s", folder, p)
		}
	}
	return nil
}

// kubectl checks command lines by the help of the program.
type kubectl struct {
	path string
	// kinds are the names under which the kinds of pages are known.
	kinds map[string]bool
	helps map[string]flagSet
}

// flagSet are the flags of a command: true for those that take a value.
type flagSet map[string]bool

var helpLine = regexp.MustCompile(`(?m)^\s+(?:-(\w), )?--([a-z0-9-]+)=(\S*)`)

// flagsIn reads the flags that a help lists.
func flagsIn(help string) flagSet {
	out := flagSet{}
	for _, m := range helpLine.FindAllStringSubmatch(help, -1) {
		hasValue := m[3] != "true:" && m[3] != "false:"
		out["--"+m[2]] = hasValue
		if m[1] != "" {
			out["-"+m[1]] = hasValue
		}
	}
	return out
}

// withSubcommands are the commands of kubectl that do nothing without another word.
var withSubcommands = []string{"create", "rollout", "auth", "config", "set"}

// takingKinds are the commands of kubectl whose first argument is a kind, or a kind and a name.
var takingKinds = []string{"get", "describe", "delete", "patch", "annotate", "label", "wait", "edit", "scale"}

// flags returns the flags of a command of kubectl, with those that all commands have.
func (k *kubectl) flags(verb []string) (flagSet, error) {
	key := strings.Join(verb, " ")
	if known, ok := k.helps[key]; ok {
		return known, nil
	}
	out := flagSet{}
	for _, args := range [][]string{{"options"}, append(slices.Clone(verb), "--help")} {
		help, err := exec.Command(k.path, args...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("kubectl %s: %s", key, help)
		}
		for name, hasValue := range flagsIn(string(help)) {
			out[name] = hasValue
		}
	}
	k.helps[key] = out
	return out, nil
}

func (k *kubectl) check(args []string) error {
	known, err := k.flags([]string{"get"}) // for flags before the verb
	if err != nil {
		return err
	}
	before, err := arguments(args, known)
	if err != nil && len(before) == 0 {
		return err
	}
	verb := before[:1]
	if slices.Contains(withSubcommands, verb[0]) && len(before) > 1 {
		verb = before[:2]
	}
	if known, err = k.flags(verb); err != nil {
		return err
	}
	words, err := arguments(args, known)
	if err != nil {
		return fmt.Errorf("kubectl %s: %w", strings.Join(verb, " "), err)
	}
	if err := k.kindsExist(verb[0], words[len(verb):]); err != nil {
		return err
	}
	return eachFile(args)
}

// arguments returns the words of a command line that are no flags, up to the first flag that is not known.
func arguments(args []string, known flagSet) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") || a == "-" {
			out = append(out, a)
			continue
		}
		name, _, joined := strings.Cut(a, "=")
		if !strings.HasPrefix(a, "--") && len(a) > 2 {
			name, joined = a[:2], true
		}
		hasValue, ok := known[name]
		if !ok {
			return out, fmt.Errorf("it has no flag %s", name)
		}
		if hasValue && !joined {
			i++
		}
	}
	return out, nil
}

// kindsExist checks the kinds that a command names.
func (k *kubectl) kindsExist(verb string, words []string) error {
	if !slices.Contains(takingKinds, verb) || len(words) == 0 {
		return nil
	}
	for _, word := range strings.Split(words[0], ",") {
		name, _, _ := strings.Cut(word, "/")
		if !k.kinds[strings.ToLower(name)] && name != "KIND" && !strings.Contains(name, "$") {
			return fmt.Errorf("kubectl %s: %s is no kind that the test knows", verb, name)
		}
	}
	return nil
}

// eachFile checks the manifests that -f names.
func eachFile(args []string) error {
	for i, a := range args {
		if (a == "-f" || a == "--filename") && i+1 < len(args) {
			if err := manifestExists(args[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}
