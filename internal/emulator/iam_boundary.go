// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
)

// boundaryActions are the operations for which AWS evaluates the boundary that a role has, or gets with the request.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var boundaryActions = []string{"AttachRolePolicy", "CreateRole", "DeleteRolePermissionsBoundary", "DeleteRolePolicy", "DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy"}

// addBoundary adds the boundary of the role to the context of a request that gives a role permissions.
func (q *asker) addBoundary() {
	if q.x.service != "iam" || !slices.Contains(boundaryActions, q.x.op) {
		return
	}
	boundary := q.x.form.Get("PermissionsBoundary")
	if boundary == "" && q.x.op != "CreateRole" {
		boundary = q.boundaryOf(q.x.form.Get("RoleName"))
	}
	if boundary != "" {
		q.context["iam:permissionsboundary"] = []string{boundary}
	}
}

// boundaryOf asks for the boundary of a role; "" for none.
func (q *asker) boundaryOf(role string) string {
	form := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {role}}
	body, err := q.inside().send(q.ctx, "iam", http.MethodPost, "application/x-www-form-urlencoded", "", []byte(form.Encode()))
	var answer struct {
		Boundary string `xml:"GetRoleResult>Role>PermissionsBoundary>PermissionsBoundaryArn"`
	}
	if err != nil || xml.Unmarshal(body, &answer) != nil {
		return "" // such as: it does not exist
	}
	return answer.Boundary
}
