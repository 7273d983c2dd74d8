// SPDX-License-Identifier: Apache-2.0

package wellknown

// suffixes are the domains of the services in partitions that do not have that of the commercial one.
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
var suffixes = map[string]string{
	"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu",
	"aws-iso": "c2s.ic.gov", "aws-iso-b": "sc2s.sgov.gov", "aws-iso-e": "cloud.adc-e.uk", "aws-iso-f": "csp.hci.ic.gov",
}

// DNSSuffix returns the domain below which AWS's services have their names in a partition, such as amazonaws.com.
func DNSSuffix(partition string) string {
	if suffix, ok := suffixes[partition]; ok {
		return suffix
	}
	return "amazonaws.com"
}
