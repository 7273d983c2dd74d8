// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// readSeparately returns the names of the settings that a resource has and no field declares, with one read for each, and the names of
// those that AWS gave no answer about. A refused read is no reason not to import.
func readSeparately(ctx context.Context, settings []engine.SeparateSetting) (found, unknown []string) {
	for _, s := range settings {
		has, err := s.Read(ctx)
		switch f := awsclient.Classify(err); {
		case err != nil && f.Class != awsclient.NotFound:
			unknown = append(unknown, fmt.Sprintf("%s (%s: %s)", s.Setting, s.Action, reasonOf(f)))
		case has:
			found = append(found, s.Setting)
		}
	}
	slices.Sort(found)
	return found, unknown
}

// reasonOf names a failure by AWS's code; the connection has none.
func reasonOf(f awsclient.Failure) string {
	if f.Code == "" {
		return "no answer"
	}
	return f.Code
}
