// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"regexp"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// operations lists the operations that have another name than their IAM action.
var operations = map[string]string{
	"s3:GetBucketCORS": "GetBucketCors", "s3:GetBucketNotification": "GetBucketNotificationConfiguration",
	"s3:GetBucketObjectLockConfiguration": "GetObjectLockConfiguration", "s3:GetBucketPublicAccessBlock": "GetPublicAccessBlock",
	"s3:GetEncryptionConfiguration": "GetBucketEncryption", "s3:GetLifecycleConfiguration": "GetBucketLifecycleConfiguration",
	"s3:GetReplicationConfiguration": "GetBucketReplication", "s3:ListAllMyBuckets": "ListBuckets",
	"s3:ListBucketVersions": "ListObjectVersions",
}

// namesRole finds the members of AWS's answers that name a role or an instance profile.
var namesRole = regexp.MustCompile(`(Role|RoleArn|RoleARN|RoleName|IamInstanceProfile|CallerArn)$`)

// A resource that acts as a role brings the rights of the role along when it is adopted. Each role that AWS shows to a kind is
// judged, or its facts have a reason.
func TestRolesThatAWSShowsAreJudgedBeforeAnAdoption(t *testing.T) {
	n := 0
	for _, e := range Kinds() {
		decided := map[string]string{}
		for why, shown := range e.Meta().Facts.RolesShown {
			for _, key := range shown {
				decided[key] = why
			}
		}
		judges := false
		for _, action := range e.Meta().Reads {
			for _, path := range rolesOf(t, e.Name(), action) {
				key := action + " " + path
				if decided[key] == "" {
					t.Errorf("%s: judge the role in kind.Roles, or say why not, in RolesShown of the facts of %s", key, e.Name())
				}
				judges = judges || decided[key] == kind.Judged
				delete(decided, key)
				n++
			}
		}
		for key := range decided {
			t.Errorf("%s in the facts of %s: AWS shows no such role", key, e.Name())
		}
		if judges && !e.Meta().JudgesAdoption {
			t.Errorf("%s judges no role before an adoption", e.Name())
		}
	}
	if n < 30 {
		t.Errorf("only %d roles were found", n)
	}
}

// rolesOf lists the members of the answer of an action that name a role.
func rolesOf(t *testing.T, kindName, action string) []string {
	t.Helper()
	service, operation, _ := strings.Cut(action, ":")
	answer, types := answerOf(t, service, cmp.Or(operations[action], operation))
	if answer == nil {
		t.Errorf("%s of %s: add the name of its operation", action, kindName)
	}
	return types.rolesIn(answer, nil, nil)
}
