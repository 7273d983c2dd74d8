// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// browser opens addresses that hold a secret.
type browser struct{ dir string }

// open opens an address in the user's browser. Other users see the arguments of processes, so the browser gets the path of a file that
// leads to the address and that only the user may read.
func (b *browser) open(ctx context.Context, address string) error {
	dir, err := os.MkdirTemp("", "nexusctl-ui-")
	if err != nil {
		return err
	}
	b.dir = dir
	path := filepath.Join(dir, "open.html")
	page := fmt.Sprintf("<!doctype html><meta charset=utf-8><title>nexusctl ui</title><meta http-equiv=refresh content=\"0;url=%s\">",
		html.EscapeString(address))
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return err
	}
	name, args := openerOf(runtime.GOOS)
	program, err := exec.LookPath(name)
	if err != nil {
		return errors.New("open the address yourself: " + name + " was not found")
	}
	return exec.CommandContext(ctx, program, append(args, path)...).Start()
}

// openerOf is the command of an operating system that opens a file in the program of its kind.
func openerOf(system string) (name string, args []string) {
	switch system {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		return "xdg-open", nil
	}
}

// close removes the file.
func (b *browser) close() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}
