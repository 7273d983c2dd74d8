// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
)

// autoModeSetting makes the nodes of a test's cluster those of EKS Auto Mode.
const autoModeSetting = "NEXUS_BED_AUTO_MODE=1"

// autoMode are the packages with tests of security intents and of capabilities, some of which run a second time in a cluster of EKS Auto Mode: the tests whose
// names match in full runs, and in the sample those that depend on the nodes.
var autoMode = []struct{ path, tests, sample string }{
	{
		"internal/controller",
		"Binding|Intent|Engines|Neighbor|NamesOutward|DNS|VirtualPatch|AssessTLS|Derived|Policy|Policies|NodeSelector|Mesh|LastIntent|RemovedLabels|FieldsOfOther",
		"NeighborsOnTheSamePods|MissingDNSService|CapabilityAreBound|ThatClosesEgress",
	},
	{"test/faults", "Binding|Engine|Policies|Flow", ""},
	{"test/e2e", "PodIdentity_OnAutoMode|TheUsersManifests|SecondPassOver|HandEdited|MissingPermission|Credentials_Half", ""},
}

// inAutoMode returns the tests of a package that run in a cluster of EKS Auto Mode, too.
func (s *session) inAutoMode(p testPackage, tests []string) []string {
	for _, m := range autoMode {
		if m.path != p.path {
			continue
		}
		pattern := m.sample
		if s.options.extent == "all" && !s.options.race {
			pattern = m.tests
		}
		named := regexp.MustCompile(pattern)
		return slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return pattern == "" || !named.MatchString(test) })
	}
	return nil
}
