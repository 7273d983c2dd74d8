// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// association is one of EKS Pod Identity, of which moto knows nothing.
type association struct {
	cluster, id, arn          string
	namespace, serviceAccount string
	role, token               string
	targetRole, policy        string
	disableSessionTags        bool
	tags                      map[string]any
	created, modified         time.Time
}

// podIdentityRoutes are the operations on associations by method, and whether the path names an association.
var podIdentityRoutes = map[string]string{
	"POST clusters": "CreatePodIdentityAssociation", "GET clusters": "ListPodIdentityAssociations",
	"GET clusters/*": "DescribePodIdentityAssociation", "POST clusters/*": "UpdatePodIdentityAssociation", "DELETE clusters/*": "DeletePodIdentityAssociation",
	"POST tags": "TagResource", "DELETE tags": "UntagResource", "GET tags": "ListTagsForResource",
}

// decodeEKS names a request about associations by the identifier of one, and a creation by its three names; a request about a
// cluster or a part of one by the name of the cluster. Other requests of EKS keep their method and path.
func decodeEKS(d *request) {
	parts := strings.Split(strings.Trim(d.http.URL.Path, "/"), "/")
	if cluster, route, _, _ := accessPath(d.http); cluster != "" {
		d.op, d.resource = cmp.Or(accessRoutes[route], d.op), cluster
		return
	}
	switch {
	case len(parts) == 4 && parts[0] == "tags" && strings.HasSuffix(parts[1], ":podidentityassociation"): // tags/arn:…:podidentityassociation/CLUSTER/ID
		d.op, d.resource = podIdentityRoutes[d.http.Method+" tags"], parts[3]
	case len(parts) == 4 && parts[2] == "pod-identity-associations":
		d.op, d.resource = podIdentityRoutes[d.http.Method+" clusters/*"], parts[3]
	case len(parts) == 3 && parts[2] == "pod-identity-associations":
		d.op, d.resource = podIdentityRoutes[d.http.Method+" clusters"], ""
		if d.http.Method == http.MethodPost {
			d.resource = parts[1] + "/" + text(d.json["namespace"]) + "/" + text(d.json["serviceAccount"])
		}
	default:
		decodeCluster(d, parts)
	}
}

// podIdentity answers the requests about associations in the place of moto, as EKS does; nil for others:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html
func (s *eksService) podIdentity(ctx context.Context, x *exchange) *answer {
	cluster, _, _ := strings.Cut(strings.TrimPrefix(x.http.URL.Path, "/clusters/"), "/")
	switch {
	case !strings.Contains(strings.ReplaceAll(x.http.URL.Path, "-", ""), "podidentityassociation"):
		return nil
	case x.op == "CreatePodIdentityAssociation":
		return s.createAssociation(ctx, x, cluster)
	case x.op == "ListPodIdentityAssociations":
		return s.listAssociations(ctx, x, cluster)
	case slices.Contains(slices.Collect(maps.Values(podIdentityRoutes)), x.op):
		return s.onAssociation(ctx, x)
	default:
		return nil
	}
}

// createAssociation checks what EKS checks: the cluster, the role with its trust policy, and that the ServiceAccount has none.
func (s *eksService) createAssociation(ctx context.Context, x *exchange, cluster string) *answer {
	role := text(x.json["roleArn"])
	if refused := s.refuseCluster(ctx, x, cluster); refused != nil {
		return refused
	}
	if refused := s.refuseRole(ctx, x, role); refused != nil {
		return refused
	}
	if refused := x.refusePolicy(text(x.json["policy"]), x.json["disableSessionTags"] == true); refused != nil {
		return refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made := &association{cluster: cluster, namespace: text(x.json["namespace"]), serviceAccount: text(x.json["serviceAccount"]), role: role, token: text(x.json["clientRequestToken"]),
		targetRole: text(x.json["targetRoleArn"]), policy: text(x.json["policy"]), disableSessionTags: x.json["disableSessionTags"] == true, tags: map[string]any{}, created: s.now(), modified: s.now()}
	for _, other := range s.associationsOf(x, cluster) {
		switch {
		case other.namespace != made.namespace || other.serviceAccount != made.serviceAccount:
		case other.token == made.token:
			return x.withAssociation(other)
		default:
			return errorAnswer(x.request, awsError{http.StatusConflict, "ResourceInUseException", "Association already exists: " + other.id})
		}
	}
	if tags, ok := x.json["tags"].(map[string]any); ok {
		made.tags = tags
	}
	s.seq++
	made.id = fmt.Sprintf("a-%017x", s.seq)
	made.arn = fmt.Sprintf("arn:%s:eks:%s:%s:podidentityassociation/%s/%s", partitionOf(x.region), x.region, s.accountOf(x.accessKey), cluster, made.id)
	s.associations[s.identity(x, "eks", made.id)] = made
	return x.withAssociation(made)
}

func (s *eksService) refuseCluster(ctx context.Context, x *exchange, cluster string) *answer {
	a, err := s.ask(ctx, x, http.MethodGet, "/clusters/"+url.PathEscape(cluster), http.Header{}, nil)
	if err == nil && a.ok() {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusNotFound, resourceNotFound, "No cluster found for name: " + cluster + "."})
}

// refuseRole refuses a role that does not exist, and one that does not trust EKS Pod Identity.
func (s *eksService) refuseRole(ctx context.Context, x *exchange, arn string) *answer {
	form := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {shortName(arn)}}
	a, err := s.ask(ctx, x.to("iam"), http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	var body struct {
		ARN   string `xml:"GetRoleResult>Role>Arn"`
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if err != nil || !a.ok() || xml.Unmarshal(a.body, &body) != nil || body.ARN != arn {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "Role provided in the request does not exist."})
	}
	trust, err := url.PathUnescape(body.Trust)
	if err != nil || !strings.Contains(trust, "pods.eks.amazonaws.com") || !strings.Contains(trust, "sts:TagSession") {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "Trust policy of the role provided is invalid. Follow the official documentation to resolve the issue."})
	}
	return nil
}

// refusePolicy refuses a session policy beside the session tags:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html
func (x *exchange) refusePolicy(policy string, withoutTags bool) *answer {
	if policy == "" || withoutTags {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "disableSessionTags must be true when a policy is provided."})
}

// associationsOf returns those of a cluster in the account and region of a request, in the order of their creation.
func (s *eksService) associationsOf(x *exchange, cluster string) (out []*association) {
	for _, identity := range slices.Sorted(maps.Keys(s.associations)) {
		if a := s.associations[identity]; a.cluster == cluster && strings.HasPrefix(identity, s.identity(x, "eks", "")) {
			out = append(out, a)
		}
	}
	return out
}

func (s *eksService) listAssociations(ctx context.Context, x *exchange, cluster string) *answer {
	if refused := s.refuseCluster(ctx, x, cluster); refused != nil {
		return refused
	}
	query := x.http.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(name, value string) bool { return !query.Has(name) || query.Get(name) == value }
	listed := []any{}
	for _, a := range s.associationsOf(x, cluster) {
		if is("namespace", a.namespace) && is("serviceAccount", a.serviceAccount) {
			listed = append(listed, a.summary())
		}
	}
	return jsonAnswer(map[string]any{"associations": listed})
}

// onAssociation answers requests that name an association.
func (s *eksService) onAssociation(ctx context.Context, x *exchange) *answer {
	if role := text(x.json["roleArn"]); role != "" {
		if refused := s.refuseRole(ctx, x, role); refused != nil {
			return refused
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	identity := s.identity(x, "eks", x.resource)
	a := s.associations[identity]
	if a == nil {
		return errorAnswer(x.request, awsError{http.StatusNotFound, resourceNotFound, "The specified association " + x.resource + " was not found."})
	}
	switch x.op {
	case "TagResource":
		tags, _ := x.json["tags"].(map[string]any)
		maps.Copy(a.tags, tags)
		return jsonAnswer(map[string]any{})
	case "UntagResource":
		for _, key := range x.http.URL.Query()["tagKeys"] {
			delete(a.tags, key)
		}
		return jsonAnswer(map[string]any{})
	case "ListTagsForResource":
		return jsonAnswer(map[string]any{"tags": a.tags})
	case "DeletePodIdentityAssociation":
		delete(s.associations, identity)
	case "UpdatePodIdentityAssociation":
		next := *a
		next.update(x.json)
		if refused := x.refusePolicy(next.policy, next.disableSessionTags); refused != nil {
			return refused
		}
		*a, a.modified = next, s.now()
	}
	return x.withAssociation(a)
}

// update changes the members that a request has.
func (a *association) update(in map[string]any) {
	if role, ok := in["roleArn"].(string); ok {
		a.role = role
	}
	if target, ok := in["targetRoleArn"].(string); ok {
		a.targetRole = target
	}
	if policy, ok := in["policy"].(string); ok {
		a.policy = policy
	}
	if disable, ok := in["disableSessionTags"].(bool); ok {
		a.disableSessionTags = disable
	}
}

func (a *association) summary() map[string]any {
	return map[string]any{"clusterName": a.cluster, "namespace": a.namespace, "serviceAccount": a.serviceAccount, "associationArn": a.arn, "associationId": a.id}
}

// withAssociation answers with all that EKS shows of an association.
func (x *exchange) withAssociation(a *association) *answer {
	body := a.summary()
	maps.Copy(body, map[string]any{"roleArn": a.role, "disableSessionTags": a.disableSessionTags, "tags": a.tags,
		"createdAt": float64(a.created.UnixMilli()) / 1000, "modifiedAt": float64(a.modified.UnixMilli()) / 1000})
	if a.targetRole != "" { // EKS makes an external ID for the trust policy of the target role
		body["targetRoleArn"] = a.targetRole
		body["externalId"] = fmt.Sprintf("%s/%s/%s/%s/%s", x.region, strings.Split(a.arn, ":")[4], a.cluster, a.namespace, a.serviceAccount)
	}
	if a.policy != "" {
		body["policy"] = a.policy
	}
	return jsonAnswer(map[string]any{"association": body})
}

// IsAssociated reports whether a ServiceAccount of a cluster has an association, in any account.
func (s *eksService) IsAssociated(cluster, namespace, serviceAccount string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.associations {
		if a.cluster == cluster && a.namespace == namespace && a.serviceAccount == serviceAccount {
			return true
		}
	}
	return false
}

// associationNames lists the associations of the account of an access key, for inventories.
func (s *eksService) associationNames(accessKey string, regions []string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, region := range regions {
		prefix := s.identity(&exchange{request: &request{accessKey: accessKey, region: region}}, "eks", "")
		for identity, a := range s.associations {
			if name := a.cluster + "/" + a.namespace + "/" + a.serviceAccount; !strings.HasPrefix(identity, prefix) {
				continue
			} else if i > 0 {
				out = append(out, region+":"+name)
			} else {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}
