// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

// HowToReplace implements kind.Replacer.
func (*resource) HowToReplace(want State) string { return want.schema.HowToReplace() }
