// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/console"
)

// cleanCommand and the functions below return the command lines that do the same as the steps.
func (p *pipeline) cleanCommand() string {
	return "nexusctl delete --full --yes" + flagOf("cascade", p.flags.Cascade)
}

func (p *pipeline) buildOperatorCommand() string {
	line := "nexusctl build operator"
	for _, arch := range slices.Sorted(maps.Keys(p.flags.Operator.Binaries)) {
		line += flagOf("binary", arch+"="+p.flags.Operator.Binaries[arch])
	}
	if len(p.flags.Operator.Binaries) == 0 {
		line += flagOf("source", p.flags.Operator.Source)
	}
	return line + flagOf("release", p.flags.Operator.Release)
}

func (p *pipeline) buildAppsCommand() string {
	sources := p.flags.applications()
	var lines []string
	for _, component := range slices.Sorted(maps.Keys(sources)) {
		lines = append(lines, "nexusctl build app "+component+p.argument()+flagOf("source", sources[component]))
	}
	if len(lines) == 0 {
		return "nexusctl build app"
	}
	return strings.Join(lines, " && ")
}

func (p *pipeline) deployCommand() string {
	return "nexusctl deploy" + flagOf("image", p.flags.Deploy.Image)
}

func (p *pipeline) applyCommand() string {
	line := "kubectl apply"
	for _, file := range p.flags.Files.Filenames {
		line += " -f " + console.ShellQuote(file)
	}
	return line
}

func (p *pipeline) watchCommand() string {
	return "nexusctl monitor" + p.argument() + flagOf("wait-for", p.flags.Monitor.Until)
}

func (p *pipeline) proveCommand() string {
	return "nexusctl verify-capability" + p.argument() + flagOf("only", strings.Join(p.flags.Verify.Only, ","))
}

// argument names the capability on a command line; it is empty where no step needs one.
func (p *pipeline) argument() string {
	if p.subject == nil {
		return ""
	}
	return " " + p.name()[0]
}

func flagOf(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + console.ShellQuote("--"+name+"="+value)
}
