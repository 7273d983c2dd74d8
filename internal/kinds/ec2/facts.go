// SPDX-License-Identifier: Apache-2.0

package ec2

import "github.com/nexus-operator/nexus-operator/internal/kind"

// elasticIPFacts declares what other packages know about an ElasticIP.
func elasticIPFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "elastic-ip/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_eip",
			Identity: []string{"id"},
		},
	}
}

// instanceFacts declares what other packages know about an EC2Instance.
func instanceFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "instance/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_instance",
			Identity: []string{"id"},
		},
	}
}

// internetGatewayFacts declares what other packages know about an InternetGateway.
func internetGatewayFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "internet-gateway/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_internet_gateway",
			Identity: []string{"id"},
		},
	}
}

// keyPairFacts declares what other packages know about an EC2KeyPair.
func keyPairFacts() kind.Facts {
	return kind.Facts{
		Terraform: kind.Terraform{
			Type:     "aws_key_pair",
			Identity: []string{"key_name"},
		},
	}
}

// natGatewayFacts declares what other packages know about a NATGateway.
func natGatewayFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "natgateway/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_nat_gateway",
			Identity: []string{"id"},
		},
	}
}

// routeTableFacts declares what other packages know about a RouteTable.
func routeTableFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "route-table/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_route_table",
			Identity: []string{"id"},
			Parts:    []string{"aws_route_table_association"},
		},
	}
}

// securityGroupFacts declares what other packages know about a SecurityGroup.
func securityGroupFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "security-group/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_security_group",
			Identity: []string{"id"},
			Parts: []string{
				"aws_security_group_rule",
				"aws_vpc_security_group_",
			},
		},
	}
}

// subnetFacts declares what other packages know about a Subnet.
func subnetFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "subnet/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_subnet",
			Identity: []string{"id"},
		},
	}
}

// vpcFacts declares what other packages know about a VPC.
func vpcFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ec2",
			Prefix:  "vpc/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_vpc",
			Identity: []string{"id"},
		},
	}
}
