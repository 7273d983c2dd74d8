// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// autoModeSetting makes the nodes of a test's cluster those of EKS Auto Mode.
const autoModeSetting = "NEXUS_BED_AUTO_MODE=1"

// autoModeSuite is a package some of whose tests run a second time in a cluster of EKS Auto Mode.
type autoModeSuite struct {
	path string
	// files are patterns of the files whose tests all run in full runs, and tests matches the names of those that run beside them.
	files []string
	tests string
	// sample matches the names of those that run in the sample: they depend on the nodes.
	sample string
}

// autoMode are the packages with tests of security intents and of capabilities.
var autoMode = []autoModeSuite{
	{"internal/controller", []string{"binding*_test.go", "capabilitypolicies_test.go", "assessments_test.go"}, "AnEngineThatIsLeftOut",
		"MissingDNSService|CapabilityAreBound|ThatClosesEgress"},
	{"test/faults", []string{"intents_test.go", "flowwalk_test.go"}, "", ""},
	{"test/cli", []string{"planintents_test.go"}, "TellsOfPoliciesThatAreNotInForce|Tree_OfABinding|SaysThatAnIntentCloses", ""},
	{"test/e2e", nil, "PodIdentity_OnAutoMode|TheUsersManifests|SecondPassOver|HandEdited|MissingPermission|Credentials_Half", ""},
}

// hasAutoMode reports whether some tests of the package may run in a cluster of EKS Auto Mode.
func hasAutoMode(p testPackage) bool {
	return slices.ContainsFunc(autoMode, func(m autoModeSuite) bool { return m.path == p.path })
}

// inAutoMode returns the tests of a package that run in a cluster of EKS Auto Mode, too.
func (s *session) inAutoMode(p testPackage, tests []string) []string {
	if !hasAutoMode(p) {
		return nil
	}
	i := slices.IndexFunc(autoMode, func(m autoModeSuite) bool { return m.path == p.path })
	m := autoMode[i]
	if s.options.extent != "all" || s.options.race != "" {
		m.files, m.tests = nil, m.sample
	}
	ofFiles, err := testsIn(p.Dir, m.files)
	if err != nil {
		return tests // rather all of them than none
	}
	named := regexp.MustCompile(m.tests)
	return slices.DeleteFunc(slices.Clone(tests), func(test string) bool {
		return !slices.Contains(ofFiles, test) && (m.tests == "" || !named.MatchString(test))
	})
}

// testsIn returns the names of the tests in the files of a folder that match one of the patterns.
func testsIn(dir string, patterns []string) ([]string, error) {
	var out []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			for _, found := range testFunction.FindAllSubmatch(text, -1) {
				out = append(out, string(found[1]))
			}
		}
	}
	return out, nil
}

// testFunction matches a whole test function.
var testFunction = regexp.MustCompile(`(?ms)^func (Test\w+)\([^\n]*(?:}$|\n.*?^}$)`)
