// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// A read that AWS refuses leaves the setting unknown, and one of a setting that is not there says that it is not.
func TestSeparateSettings_TellUnknownFromAbsent(t *testing.T) {
	setting := func(name, code string, has bool) engine.SeparateSetting {
		return engine.SeparateSetting{ImportRead: kind.ImportRead{Setting: name, Action: "s3:Get"}, Read: func(context.Context) (bool, error) {
			if code == "" {
				return has, nil
			}
			return false, &smithy.OperationError{ServiceID: "S3", OperationName: "GetBucketReplication", Err: &smithy.GenericAPIError{Code: code}}
		}}
	}
	cut := setting("cut", "", false)
	cut.Read = func(context.Context) (bool, error) { return false, errors.New("connection reset") }
	found, unknown := readSeparately(t.Context(), []engine.SeparateSetting{
		setting("set", "", true), setting("off", "", false), setting("absent", "ReplicationConfigurationNotFoundError", false),
		setting("refused", "AccessDenied", false), cut})
	if !slices.Equal(found, []string{"set"}) || !slices.Equal(unknown, []string{"refused (s3:Get: AccessDenied)", "cut (s3:Get: no answer)"}) {
		t.Errorf("found %q, unknown %q", found, unknown)
	}
}

// The page on nexusctl names each setting that an import reads separately, with the right that the read needs.
func TestSeparateSettings_AreOnThePageWithTheirRights(t *testing.T) {
	page, err := os.ReadFile("../../docs/nexusctl.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range catalog.Kinds() {
		var settings, rights []string
		for _, r := range e.Meta().ImportReads {
			settings, rights = append(settings, "`"+r.Setting+"`"), append(rights, "`"+r.Action+"`")
		}
		row := "| `" + e.Name() + "` | " + strings.Join(settings, ", ") + " | " + strings.Join(slices.Compact(rights), ", ") + " |"
		if len(settings) > 0 && !strings.Contains(string(page), row) {
			t.Errorf("docs/nexusctl.md lacks the row\n%s", row)
		}
	}
}
