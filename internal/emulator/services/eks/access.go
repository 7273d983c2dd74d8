// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// accessEntry is an access entry of a cluster and the scopes of its policies. moto has no access entries.
type accessEntry struct {
	groups   []any
	policies map[string]any
}

// accessRoutes are the operations on access entries by method and path after the name of the cluster. A * in the path is an ARN.
var accessRoutes = map[string]string{
	"POST access-entries": "CreateAccessEntry", "GET access-entries": "ListAccessEntries",
	"GET access-entries/*": "DescribeAccessEntry", "POST access-entries/*": "UpdateAccessEntry",
	"DELETE access-entries/*":              "DeleteAccessEntry",
	"GET access-entries/*/access-policies": "ListAssociatedAccessPolicies", "POST access-entries/*/access-policies": "AssociateAccessPolicy",
	"DELETE access-entries/*/access-policies/*": "DisassociateAccessPolicy",
}

// accessPath splits the path of a request about access entries into the cluster, the route, the principal and the policy.
func accessPath(r *http.Request) (cluster, route, principal, policy string) {
	parts := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	if len(parts) < 3 || parts[2] != "access-entries" {
		return "", "", "", ""
	}
	for i, part := range parts {
		parts[i], _ = url.PathUnescape(part)
	}
	cluster = parts[1]
	if len(parts) > 3 {
		principal, parts[3] = parts[3], "*"
	}
	if len(parts) > 5 {
		policy, parts[5] = parts[5], "*"
	}
	return cluster, r.Method + " " + strings.Join(parts[2:], "/"), principal, policy
}

// accessEntries answers the requests about access entries in the place of moto, as EKS does; nil for others:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html
func (s *Service) accessEntries(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if !slices.Contains(slices.Collect(maps.Values(accessRoutes)), x.Op) {
		return nil
	}
	cluster, _, principal, policy := accessPath(x.HTTP)
	if refused := s.refuseCluster(ctx, x, cluster); refused != nil {
		return refused
	}
	if principal == "" {
		principal = proxy.Text(x.JSON["principalArn"])
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c := s.controlPlaneOf(x)
	if mode, _ := c.settings["accessConfig"].(map[string]any); proxy.Text(mode["authenticationMode"]) == "CONFIG_MAP" || mode == nil {
		return x.Refuse(http.StatusBadRequest, "InvalidRequestException",
			"The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	e := c.entries[principal]
	switch {
	case x.Op == "ListAccessEntries":
		return proxy.JSONAnswer(map[string]any{"accessEntries": slices.Sorted(maps.Keys(c.entries))})
	case x.Op == "CreateAccessEntry" && e != nil:
		return x.Refuse(http.StatusConflict, "ResourceInUseException", "The specified access entry resource is already in use on this cluster.")
	case x.Op == "CreateAccessEntry":
		if c.entries == nil {
			c.entries = map[string]*accessEntry{}
		}
		e = &accessEntry{policies: map[string]any{}}
		c.entries[principal] = e
	case e == nil:
		return x.Refuse(http.StatusNotFound, proxy.ResourceNotFound,
			"The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.")
	}
	return c.onAccessEntry(x, e, principal, policy)
}

// onAccessEntry carries out a request about an entry.
func (c *controlPlane) onAccessEntry(x *proxy.Exchange, e *accessEntry, principal, policy string) *proxy.Answer {
	switch x.Op {
	case "DeleteAccessEntry":
		delete(c.entries, principal)
		return proxy.JSONAnswer(map[string]any{})
	case "AssociateAccessPolicy":
		e.policies[proxy.Text(x.JSON["policyArn"])] = x.JSON["accessScope"]
		return proxy.JSONAnswer(map[string]any{"associatedAccessPolicy": map[string]any{"policyArn": x.JSON["policyArn"],
			"accessScope": x.JSON["accessScope"]}})
	case "DisassociateAccessPolicy":
		if e.policies[policy] == nil {
			return x.Refuse(http.StatusNotFound, proxy.ResourceNotFound, "The specified policyArn is not associated with the access entry.")
		}
		delete(e.policies, policy)
		return proxy.JSONAnswer(map[string]any{})
	case "ListAssociatedAccessPolicies":
		listed := []any{}
		for _, arn := range slices.Sorted(maps.Keys(e.policies)) {
			listed = append(listed, map[string]any{"policyArn": arn, "accessScope": e.policies[arn]})
		}
		return proxy.JSONAnswer(map[string]any{"associatedAccessPolicies": listed})
	}
	if groups, ok := x.JSON["kubernetesGroups"].([]any); ok {
		e.groups = groups
	}
	return proxy.JSONAnswer(map[string]any{"accessEntry": map[string]any{"principalArn": principal, "kubernetesGroups": e.groups,
		"type": "STANDARD"}})
}
