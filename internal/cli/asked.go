// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/ui"
)

// changedFlags are the flags of the command line that are set, as arguments.
func changedFlags(flags *pflag.FlagSet) []string {
	var out []string
	flags.VisitAll(func(f *pflag.Flag) { // Visit knows only the flags that its own set has parsed, and the subcommand has parsed these
		if !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out
}

// askingVerb is a run of a verb that shows the answers of other commands: of ui, or of mcp.
type askingVerb struct {
	*connection.Connection
	program Program
}

// asked runs commands of nexusctl in this process, for programs that show their answers.
type asked struct {
	program Program
	// flags are arguments for every command.
	flags []string
}

// print runs a command with -o json. It returns the output of the command, also when its exit code says that an object is not ready or a
// manifest is invalid, and its notes. A command that printed no JSON has failed.
func (a asked) print(ctx context.Context, q ui.Question) (printed json.RawMessage, notes string, err error) {
	var out, errOut bytes.Buffer
	p := a.program
	p.In, p.Out, p.ErrOut = strings.NewReader(q.Stdin), &out, &errOut
	args := append([]string{"nexusctl", q.Command}, a.flags...)
	if q.Namespace != "" {
		args = append(args, "--namespace="+q.Namespace)
	}
	args = append(args, "--output=json")
	args = append(args, q.Flags...)
	args = append(append(args, "--"), q.Names...)
	p.Run(ctx, args)
	notes = strings.TrimSpace(errOut.String())
	if !json.Valid(out.Bytes()) {
		return nil, "", errors.New(cmp.Or(notes, "the command printed nothing"))
	}
	return out.Bytes(), notes, nil
}
