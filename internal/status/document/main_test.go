// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestPage_IsUpToDate(t *testing.T) {
	text, err := os.ReadFile("../../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != page() {
		t.Error("docs/errors.md differs from the table of codes: run make generate")
	}
}

func TestPage_HasAHeadingForEveryCode(t *testing.T) {
	text := page()
	for _, c := range status.Codes() {
		if strings.Count(text, "\n### "+c.ID+"\n") != 1 {
			t.Errorf("%s has not exactly one heading", c.ID)
		}
	}
}
