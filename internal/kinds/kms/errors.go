// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/kms/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "kms",
		Rows: []kind.ErrorRow{
			{Code: "NotFound", Class: awsclient.NotFound},
			{Code: "AlreadyExists", Class: awsclient.Exists},
			{Code: "KMSInvalidState", Message: "pending deletion", Class: awsclient.ScheduledForDeletion},
			{Code: "KMSInvalidState", Class: awsclient.Busy},
			{Code: "KMSInternal", Class: awsclient.Transient},
			// A key is not enabled for a moment after its creation, and until the part of the pass that enables it.
			{Code: "Disabled", Class: awsclient.Busy},
			{Code: "InvalidArn|InvalidAliasName|InvalidMarker|Tag", Class: awsclient.Invalid},
			{Code: "CloudHsmClusterInvalidConfiguration|CustomKeyStoreInvalidState|CustomKeyStoreNotFound", Class: awsclient.Invalid},
			{Code: "XksKeyAlreadyInUse|XksKeyInvalidConfiguration|XksKeyNotFound", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeKey", Code: "NotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateAlias", Code: "AlreadyExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "EnableKey", Code: "KMSInvalidStateException", Message: "arn is pending deletion.", Status: 400,
				Class: awsclient.ScheduledForDeletion},
			{Operation: "EnableKey", Code: "KMSInvalidStateException", Message: "arn is creating.", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateKey", Code: "KMSInternalException", Status: 500, Class: awsclient.Transient},
			{Operation: "EnableKeyRotation", Code: "DisabledException", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateKey", Code: "TagException", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateKey", Code: "CustomKeyStoreNotFoundException", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateKey", Code: "XksKeyNotFoundException", Status: 400, Class: awsclient.Invalid},
		},
	},
}
