// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only the options of WorkerOptions come with the queue that serves namespaces in turn.
func TestEveryControllerServesNamespacesInTurn(t *testing.T) {
	controllers := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "ctrl.NewControllerManagedBy(") {
			return err
		}
		controllers++
		if !strings.Contains(string(text), "reconciler.WorkerOptions(") {
			t.Errorf("%s adds a controller without reconciler.WorkerOptions", path)
		}
		return nil
	})
	if err != nil || controllers < 6 {
		t.Errorf("%d controllers, %v", controllers, err)
	}
}
