// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// The policies that Named returns.
const (
	NameOperator  = "operator"
	NameInstaller = "installer"
)

// DefaultControllerRole is the name of the role of the AWS Load Balancer Controller.
const DefaultControllerRole = "NexusALBControllerRole"

// AddFlags adds the flags that limit a policy.
func (s *Scope) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&s.Partition, "partition", "aws", "partition of all ARNs, such as aws-cn")
	fs.StringVar(&s.Region, "region", "", "region of all regional ARNs; default: every region")
	fs.StringVar(&s.Account, "account", "", "account of all ARNs; default: every account")
	fs.StringVar(&s.NamePrefix, "name-prefix", "",
		"beginning of the names of all AWS resources that the operator may touch; default: every name")
	fs.StringVar(&s.RolePath, "role-path", "", "path of all roles that the operator may touch, such as /teams/")
	fs.StringVar(&s.Boundary, "permissions-boundary", "",
		"ARN of the permissions boundary without which the operator may give a role no permissions")
	fs.StringSliceVar(&s.AssumeRoles, "assume-roles", nil, "ARNs of the roles that AWSProviders name")
	fs.BoolVar(&s.Adopt, "adopt", false,
		"let the operator put its tags on resources that it did not create, for AWSProviders with adoptableKinds")
	fs.StringSliceVar(&s.Types, "types", nil,
		"AWS resource types that AWSResource objects may manage, as in --types of the operator, such as AWS::Kinesis::*; operator only")
	fs.StringVar(&s.EKSCluster, "eks-cluster-name", "",
		"name of the EKS cluster whose OIDC issuer the operator reads, and in which it makes associations of EKS Pod Identity")
	fs.StringVar(&s.DriftQueue, "drift-events-queue", "",
		"name of the queue with CloudTrail's events of changes that the operator reads, and that nexusctl drift-events makes, such as nexus-drift-events")
	fs.StringVar(&s.Repository, "repository", "nexus-operator", "name of the ECR repository of the operator's image; installer only")
	fs.StringVar(&s.Role, "role", "NexusAIOperatorRole",
		"name of the operator's role, with which the names of its policies begin; installer only")
	fs.StringVar(&s.ControllerRole, "controller-role", DefaultControllerRole,
		"name of the role of the AWS Load Balancer Controller, with which the names of its policies begin; installer only")
}

// Named returns the policies of the operator or of the installer, and notices for the administrator about the rights in them.
func Named(name string, metas []kind.Meta, scope Scope) (documents []iampolicy.Document, notices []string, err error) {
	switch name {
	case NameOperator:
		documents, notices, err = Operator(metas, scope)
		if scope.NamePrefix+scope.RolePath+scope.Boundary == "" {
			notices = slices.Insert(notices, 0,
				"with this policy the operator may give rights to every role of the account; limit it by --name-prefix, --role-path or --permissions-boundary")
		}
	case NameInstaller:
		documents, err = Installer(scope)
	default:
		err = fmt.Errorf("name one policy, %s or %s", NameOperator, NameInstaller)
	}
	return documents, notices, err
}

// Text prints policies, one JSON document after the other.
func Text(documents []iampolicy.Document) (string, error) {
	var out bytes.Buffer
	for _, d := range documents {
		text, err := d.Encode()
		if err != nil {
			return "", err
		}
		if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
			return "", err
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}
