// SPDX-License-Identifier: Apache-2.0

package importer

// notSettings lists the members of AWS's answers that are no settings of any kind. The facts of a kind list its own.
var notSettings = []string{
	"IsTruncated", "MaxItems", "NextToken", "NextMarker", "NextRecordName", "NextRecordType", "NextRecordIdentifier", "Marker", "Truncated",
}
