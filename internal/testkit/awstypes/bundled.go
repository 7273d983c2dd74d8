// SPDX-License-Identifier: Apache-2.0

package awstypes

import "github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"

// Bundled returns all types of all regions, with the schemas that nexusctl has in it. It needs neither the wheel nor PyPI.
func Bundled() (*Types, error) {
	b, err := bundled.Open()
	return &Types{bundled: b}, err
}
