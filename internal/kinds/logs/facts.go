// SPDX-License-Identifier: Apache-2.0

package logs

import "github.com/nexus-operator/nexus-operator/internal/kind"

// groupFacts returns the facts about a LogGroup that other packages use.
func groupFacts() kind.Facts {
	return kind.Facts{
		NotSettings: []string{"LogGroups.Arn", "LogGroups.InheritedProperties", "LogGroups.MetricFilterCount", "LogGroups.StoredBytes"},
		Declarable: true,
		OneValue: map[string]string{
			"KMSKeyRef": kind.AsItsTarget,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Logs::LogGroup"},
		},
		ARN: kind.ARNForm{
			Service: "logs",
			Prefix:  "log-group:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_cloudwatch_log_group",
			Identity: []string{"name"},
		},
	}
}
