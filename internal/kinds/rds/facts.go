// SPDX-License-Identifier: Apache-2.0

package rds

import "github.com/nexus-operator/nexus-operator/internal/kind"

// instanceFacts declares what other packages know about an RDSInstance.
func instanceFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "rds",
			Prefix:  "db:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_db_instance",
			Identity: []string{"identifier"},
		},
	}
}

// subnetGroupFacts declares what other packages know about a DBSubnetGroup.
func subnetGroupFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "rds",
			Prefix:  "subgrp:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_db_subnet_group",
			Identity: []string{"name"},
		},
	}
}
