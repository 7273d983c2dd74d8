// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/importer"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// unread are settings that a spec declares and an export leaves out, because the kind does not read them.
var unread = map[string][]string{"EC2Instance": {"blockDeviceMappings"}}

// saysEverything checks that an export of a declared spec reports no setting that no field can say: all of them came from fields.
func saysEverything(t *testing.T, s *Subject, found importer.Export) {
	t.Helper()
	if !s.comparesAnswers {
		return
	}
	settings, err := found.NotDeclared(t.Context())
	if err != nil {
		t.Error(err)
	}
	settings = slices.DeleteFunc(settings, func(setting string) bool {
		return slices.ContainsFunc(unread[s.Entry.Name()], func(u string) bool { return strings.HasPrefix(setting, u) })
	})
	if len(settings) > 0 {
		t.Errorf("reported as not declared, although a field made it, or it is no setting (internal/importer/notsettings.go): %q", settings)
	}
}

// undeclarable compares the settings that no field can say with a checked-in list: those that AWS could have answered with. An update of
// the SDK shows the additions of AWS in it: declare an addition by a field, or leave it in the list, or add it to
// Facts.NotSettings of the kind where it is no setting.
func undeclarable(t *testing.T, s *Subject) {
	t.Helper()
	if _, err := s.Settle(t.Context(), nil); err != nil {
		t.Fatalf("making it: %v", awsErr(err))
	}
	found := exportOf(t, s, nil)
	golden.Check(t, "not-declarable-"+strings.ToLower(s.Entry.Name())+".txt", strings.Join(found.NotDeclarable(t.Context()), "\n")+"\n")
	for _, setting := range found.Separate {
		readSeparately(t, s, setting)
	}
	if unfounded := found.Unfounded(); len(unfounded) > 0 {
		t.Errorf("internal/importer/notsettings.go lists what no answer has: %q", unfounded)
	}
}

// exportOf exports the resource of a subject from answers of AWS that amend edits, where it is set.
func exportOf(t *testing.T, s *Subject, amend func(output any)) importer.Export {
	t.Helper()
	copied, cfg := s.likeness(t), s.Rig.Config
	if amend != nil {
		cfg = amended(cfg, amend)
	}
	found, err := importer.ExportOf(t.Context(), s.Entry, s.Entry.Bind(answers.Instrument(cfg)), copied.Scope(), copied.Object)
	if err != nil || !found.Exists {
		t.Fatalf("exporting: %v, exists %t", awsErr(err), found.Exists)
	}
	return found
}

// amended returns a configuration with clients that show answers of AWS as amend edits them.
func amended(cfg aws.Config, amend func(output any)) aws.Config {
	return initialized(cfg, "Amend",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput,
			middleware.Metadata, error) {
			out, metadata, err := next.HandleInitialize(ctx, in)
			if err == nil {
				amend(out.Result)
			}
			return out, metadata, err
		})
}

// NotDeclared creates the resource of the object, lets AWS answer as amend edits its answers, and returns the settings that an import
// reports as not declared, and those that it leaves out. Its last result is the exported object.
func NotDeclared(t *testing.T, e engine.Entry, o v1alpha1.Resource, facts func(*Subject), amend func(output any)) (settings,
	omitted []string, exported v1alpha1.Resource) {
	t.Helper()
	s := NewSubject(NewRig(t), e, o)
	if facts != nil {
		facts(s)
	}
	Settled(t, s)
	found := exportOf(t, s, amend)
	settings, err := found.NotDeclared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return settings, found.Omitted, found.Published
}
