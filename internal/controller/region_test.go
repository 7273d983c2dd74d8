// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/options"
)

func TestTheOperatorDoesNotStartWithARegionThatDoesNotExist(t *testing.T) {
	_, err := New(t.Context(), &rest.Config{}, options.Options{AWS: options.AWS{Region: "eu-wset-1"}}, Contents{}, logr.Discard())
	if err == nil || !strings.Contains(err.Error(), "--region") || !strings.Contains(err.Error(), "--additional-regions") {
		t.Errorf("got %v", err)
	}
}
