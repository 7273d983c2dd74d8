// SPDX-License-Identifier: Apache-2.0

package eks

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

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// association is one of EKS Pod Identity. moto has none.
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
	"GET clusters/*": "DescribePodIdentityAssociation", "POST clusters/*": "UpdatePodIdentityAssociation",
	"DELETE clusters/*": "DeletePodIdentityAssociation",
	"POST tags":         "TagResource", "DELETE tags": "UntagResource", "GET tags": "ListTagsForResource",
}

// decodeEKS names a request about associations by the identifier of one, and a creation by its three names; a request about a
// cluster or a part of one by the name of the cluster. Other requests of EKS keep their method and path.
func decodeEKS(d *proxy.Request) {
	parts := strings.Split(strings.Trim(d.HTTP.URL.Path, "/"), "/")
	if cluster, route, _, _ := accessPath(d.HTTP); cluster != "" {
		d.Op, d.Resource = cmp.Or(accessRoutes[route], d.Op), cluster
		return
	}
	switch {
	// tags/arn:…:podidentityassociation/CLUSTER/ID
	case len(parts) == 4 && parts[0] == "tags" && strings.HasSuffix(parts[1], ":podidentityassociation"):
		d.Op, d.Resource = podIdentityRoutes[d.HTTP.Method+" tags"], parts[3]
	case len(parts) == 4 && parts[2] == "pod-identity-associations":
		d.Op, d.Resource = podIdentityRoutes[d.HTTP.Method+" clusters/*"], parts[3]
	case len(parts) == 3 && parts[2] == "pod-identity-associations":
		d.Op, d.Resource = podIdentityRoutes[d.HTTP.Method+" clusters"], ""
		if d.HTTP.Method == http.MethodPost {
			d.Resource = parts[1] + "/" + proxy.Text(d.JSON["namespace"]) + "/" + proxy.Text(d.JSON["serviceAccount"])
		}
	default:
		decodeCluster(d, parts)
	}
}

// podIdentity answers the requests about associations in the place of moto, as EKS does; nil for others:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html
func (s *Service) podIdentity(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	cluster, _, _ := strings.Cut(strings.TrimPrefix(x.HTTP.URL.Path, "/clusters/"), "/")
	switch {
	case !strings.Contains(strings.ReplaceAll(x.HTTP.URL.Path, "-", ""), "podidentityassociation"):
		return nil
	case x.Op == "CreatePodIdentityAssociation":
		return s.createAssociation(ctx, x, cluster)
	case x.Op == "ListPodIdentityAssociations":
		return s.listAssociations(ctx, x, cluster)
	case slices.Contains(slices.Collect(maps.Values(podIdentityRoutes)), x.Op):
		return s.onAssociation(ctx, x)
	default:
		return nil
	}
}

// createAssociation makes the checks of EKS: the cluster, the role with its trust policy, and that the ServiceAccount has none.
func (s *Service) createAssociation(ctx context.Context, x *proxy.Exchange, cluster string) *proxy.Answer {
	role := proxy.Text(x.JSON["roleArn"])
	if refused := s.refuseCluster(ctx, x, cluster); refused != nil {
		return refused
	}
	if refused := s.refuseRole(ctx, x, role); refused != nil {
		return refused
	}
	if refused := refusePolicy(x, proxy.Text(x.JSON["policy"]), x.JSON["disableSessionTags"] == true); refused != nil {
		return refused
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	made := &association{cluster: cluster, namespace: proxy.Text(x.JSON["namespace"]), serviceAccount: proxy.Text(x.JSON["serviceAccount"]),
		role: role, token: proxy.Text(x.JSON["clientRequestToken"]),
		targetRole: proxy.Text(x.JSON["targetRoleArn"]), policy: proxy.Text(x.JSON["policy"]),
		disableSessionTags: x.JSON["disableSessionTags"] == true, tags: map[string]any{}, created: s.Now(), modified: s.Now()}
	for _, other := range s.associationsOf(x, cluster) {
		switch {
		case other.namespace != made.namespace || other.serviceAccount != made.serviceAccount:
		case other.token == made.token:
			return withAssociation(x, other)
		default:
			return x.Refuse(http.StatusConflict, "ResourceInUseException", "Association already exists: "+other.id)
		}
	}
	if tags, ok := x.JSON["tags"].(map[string]any); ok {
		made.tags = tags
	}
	s.seq++
	made.id = fmt.Sprintf("a-%017x", s.seq)
	made.arn = fmt.Sprintf("arn:%s:eks:%s:%s:podidentityassociation/%s/%s", proxy.PartitionOf(x.Region), x.Region, s.AccountOf(x.AccessKey),
		cluster, made.id)
	s.associations[s.Identity(x, "eks", made.id)] = made
	return withAssociation(x, made)
}

func (s *Service) refuseCluster(ctx context.Context, x *proxy.Exchange, cluster string) *proxy.Answer {
	a, err := s.Ask(ctx, x, http.MethodGet, "/clusters/"+url.PathEscape(cluster), http.Header{}, nil)
	if err == nil && a.OK() {
		return nil
	}
	return x.Refuse(http.StatusNotFound, proxy.ResourceNotFound, "No cluster found for name: "+cluster+".")
}

// refuseRole refuses a role that does not exist, and one that does not trust EKS Pod Identity.
func (s *Service) refuseRole(ctx context.Context, x *proxy.Exchange, arn string) *proxy.Answer {
	form := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {x.ShortName(arn)}}
	a, err := s.Ask(ctx, x.To("iam"), http.MethodPost, "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		[]byte(form.Encode()))
	var body struct {
		ARN   string `xml:"GetRoleResult>Role>Arn"`
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if err != nil || !a.OK() || xml.Unmarshal(a.Body, &body) != nil || body.ARN != arn {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterException", "Role provided in the request does not exist.")
	}
	trust, err := url.PathUnescape(body.Trust)
	if err != nil || !strings.Contains(trust, "pods.eks.amazonaws.com") || !strings.Contains(trust, "sts:TagSession") {
		return x.Refuse(http.StatusBadRequest, "InvalidParameterException",
			"Trust policy of the role provided is invalid. Follow the official documentation to resolve the issue.")
	}
	return nil
}

// refusePolicy refuses a session policy beside the session tags:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html
func refusePolicy(x *proxy.Exchange, policy string, withoutTags bool) *proxy.Answer {
	if policy == "" || withoutTags {
		return nil
	}
	return x.Refuse(http.StatusBadRequest, "InvalidParameterException", "disableSessionTags must be true when a policy is provided.")
}

// associationsOf returns those of a cluster in the account and region of a request, in the order of their creation.
func (s *Service) associationsOf(x *proxy.Exchange, cluster string) (out []*association) {
	for _, identity := range slices.Sorted(maps.Keys(s.associations)) {
		if a := s.associations[identity]; a.cluster == cluster && strings.HasPrefix(identity, s.Identity(x, "eks", "")) {
			out = append(out, a)
		}
	}
	return out
}

func (s *Service) listAssociations(ctx context.Context, x *proxy.Exchange, cluster string) *proxy.Answer {
	if refused := s.refuseCluster(ctx, x, cluster); refused != nil {
		return refused
	}
	query := x.HTTP.URL.Query()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	is := func(name, value string) bool { return !query.Has(name) || query.Get(name) == value }
	listed := []any{}
	for _, a := range s.associationsOf(x, cluster) {
		if is("namespace", a.namespace) && is("serviceAccount", a.serviceAccount) {
			listed = append(listed, a.summary())
		}
	}
	return proxy.JSONAnswer(map[string]any{"associations": listed})
}

// onAssociation answers requests that name an association.
func (s *Service) onAssociation(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if role := proxy.Text(x.JSON["roleArn"]); role != "" {
		if refused := s.refuseRole(ctx, x, role); refused != nil {
			return refused
		}
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	identity := s.Identity(x, "eks", x.Resource)
	a := s.associations[identity]
	if a == nil {
		return x.Refuse(http.StatusNotFound, proxy.ResourceNotFound, "The specified association "+x.Resource+" was not found.")
	}
	switch x.Op {
	case "TagResource":
		tags, _ := x.JSON["tags"].(map[string]any)
		maps.Copy(a.tags, tags)
		return proxy.JSONAnswer(map[string]any{})
	case "UntagResource":
		for _, key := range x.HTTP.URL.Query()["tagKeys"] {
			delete(a.tags, key)
		}
		return proxy.JSONAnswer(map[string]any{})
	case "ListTagsForResource":
		return proxy.JSONAnswer(map[string]any{"tags": a.tags})
	case "DeletePodIdentityAssociation":
		delete(s.associations, identity)
	case "UpdatePodIdentityAssociation":
		next := *a
		next.update(x.JSON)
		if refused := refusePolicy(x, next.policy, next.disableSessionTags); refused != nil {
			return refused
		}
		*a, a.modified = next, s.Now()
	}
	return withAssociation(x, a)
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
	return map[string]any{"clusterName": a.cluster, "namespace": a.namespace, "serviceAccount": a.serviceAccount, "associationArn": a.arn,
		"associationId": a.id}
}

// withAssociation answers with all that EKS shows of an association.
func withAssociation(x *proxy.Exchange, a *association) *proxy.Answer {
	body := a.summary()
	maps.Copy(body, map[string]any{"roleArn": a.role, "disableSessionTags": a.disableSessionTags, "tags": a.tags,
		"createdAt": float64(a.created.UnixMilli()) / 1000, "modifiedAt": float64(a.modified.UnixMilli()) / 1000})
	if a.targetRole != "" { // EKS makes an external ID for the trust policy of the target role
		body["targetRoleArn"] = a.targetRole
		body["externalId"] = fmt.Sprintf("%s/%s/%s/%s/%s", x.Region, strings.Split(a.arn, ":")[4], a.cluster, a.namespace, a.serviceAccount)
	}
	if a.policy != "" {
		body["policy"] = a.policy
	}
	return proxy.JSONAnswer(map[string]any{"association": body})
}

// IsAssociated reports whether a ServiceAccount of a cluster has an association, in any account.
func (s *Service) IsAssociated(cluster, namespace, serviceAccount string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, a := range s.associations {
		if a.cluster == cluster && a.namespace == namespace && a.serviceAccount == serviceAccount {
			return true
		}
	}
	return false
}

// associationNames lists the associations of the account of an access key, for inventories.
func (s *Service) associationNames(accessKey string, regions []string) (out []string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for i, region := range regions {
		prefix := s.Identity(&proxy.Exchange{Request: &proxy.Request{AccessKey: accessKey, Region: region}}, "eks", "")
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
