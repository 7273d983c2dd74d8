// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// HostedZoneState is a hosted zone as both the spec and Route 53 can express it.
type HostedZoneState struct {
	Search kind.Search `drift:"id"`
	// Observing is true for an object that only observes: without an identifier it leads to the only zone of its name.
	Observing bool `drift:"id"`
	// Reference begins the caller references of the zones that this object creates.
	Reference   string   `drift:"id"`
	ID          string   `drift:"id"`
	ARN         string   `drift:"id"`
	NameServers []string `drift:"observed"`
	Records     int64    `drift:"observed"`

	Name    *string           `drift:"immutable"`
	Private *bool             `drift:"immutable"`
	Comment *string           // "" where there is none
	VPCs    map[string]VPC    `drift:"exact"` // by identifier
	Tags    map[string]string `drift:"tags"`
}

// VPC is a VPC of a private zone.
type VPC struct {
	Region string `drift:"id"`
}

const (
	// ownRecords are the NS and the SOA record that each zone has.
	ownRecords = 2
	// maxTags limits how many tags a zone can have, and maxBatch of how many zones one call reads them.
	// https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeTagsForResource.html
	maxTags, maxBatch = 10, 10
)

type hostedZone struct{ api *route53.Client }

// NewHostedZone binds the Route53HostedZone kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonroute53.html
func NewHostedZone(cfg aws.Config) kind.Kind[*v1alpha1.Route53HostedZone, HostedZoneState] {
	z := &hostedZone{api: route53.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.Route53HostedZone, HostedZoneState]{
		Meta: kind.Meta{Facts: hostedZoneFacts(), Identity: kind.ByToken, HoldsData: true, References: []string{"VPC"}},
		Identify: func(sc kind.Scope, cr *v1alpha1.Route53HostedZone) (HostedZoneState, error) {
			return HostedZoneState{Search: sc.Search, Observing: sc.Observing,
				Reference: "nexus.ai/" + sc.UID + "/", ARN: "arn:" + sc.Partition + ":route53:::hostedzone/",
				Name: kind.Ptr(canonicalName(cr.Spec.Name))}, nil
		},
		Declare: declareZone, Publish: publishZone,
		Export:   kind.Export[*v1alpha1.Route53HostedZone, HostedZoneState]{Identity: []string{"importID"}, Spec: exportedZone, Separate: z.separateSettings()},
		Explain:  awsclient.ExplainVanished[HostedZoneState]("Route 53 described the hosted zone and answered that it does not exist"),
		Describe: kind.Read[HostedZoneState]{Actions: []string{"route53:GetHostedZone", "route53:ListHostedZonesByName", "route53:ListTagsForResources"}, Do: z.describe},
		// The create carries no tags. Its success says that the zone with the caller reference exists.
		Create: kind.Call[HostedZoneState]{Action: "route53:CreateHostedZone", Effect: kind.Ensures, DoForID: z.create},
		Tagging: kind.Tagging[HostedZoneState]{AfterCreate: true,
			Reads: "route53:ListTagsForResource", List: z.tags,
			Replaces: "route53:ChangeTagsForResource", Replace: z.replaceTags,
		},
		Parts: []kind.Part[HostedZoneState]{
			{Fields: []string{"Comment"}, InCreate: true,
				Write: kind.Call[HostedZoneState]{Action: "route53:UpdateHostedZoneComment", Do: kind.Send(z.api.UpdateHostedZoneComment, func(want, have HostedZoneState) *route53.UpdateHostedZoneCommentInput {
					return &route53.UpdateHostedZoneCommentInput{Id: &have.ID, Comment: kind.NonEmpty(want.Comment)}
				})}},
			// Route 53 refuses to remove the last VPC, so that new ones come first. One call follows the other: Route 53 refuses a
			// call while it carries out another one for the same zone.
			{Fields: []string{"VPCs"}, Keys: &kind.Keys[HostedZoneState]{OneByOne: true, InCreate: firstVPC,
				Set:   kind.KeysCall[HostedZoneState]{Action: "route53:AssociateVPCWithHostedZone", Do: z.associate},
				Unset: kind.KeysCall[HostedZoneState]{Action: "route53:DisassociateVPCFromHostedZone", Do: z.disassociate}}},
		},
		OneByOne: true,
		Delete: []kind.Ending[HostedZoneState]{{Call: kind.Call[HostedZoneState]{Action: "route53:DeleteHostedZone", Effect: kind.Deletes, Spares: always, Do: func(ctx context.Context, _, have HostedZoneState) error {
			_, err := z.api.DeleteHostedZone(ctx, &route53.DeleteHostedZoneInput{Id: &have.ID})
			return awsclient.MarkNotEmpty(err)
		}}}},
	})
}

func declareZone(sc kind.Scope, cr *v1alpha1.Route53HostedZone, want *HostedZoneState) error {
	in := cr.Spec
	if n := len(sc.Tags); n > maxTags {
		return status.Invalid("spec.tags", "%d tags together with the provider's defaultTags and the operator's own; a hosted zone can have %d", n, maxTags)
	}
	want.Private, want.Comment = &in.PrivateZone, in.Comment
	if !in.PrivateZone {
		return nil
	}
	vpcs := in.VPCs
	if len(vpcs) == 0 {
		vpcs = []v1alpha1.HostedZoneVPC{{VPCID: in.VPCID, VPCRef: in.VPCRef, VPCRegion: in.VPCRegion}}
	}
	want.VPCs = map[string]VPC{}
	for _, v := range vpcs {
		id := v.VPCID
		if v.VPCRef != nil {
			target, err := sc.Ref("VPC", v.VPCRef.Name)
			if err != nil {
				return err
			}
			id = target.ID
		}
		want.VPCs[id] = VPC{cmp.Or(v.VPCRegion, sc.Region)}
	}
	return nil
}

func publishZone(cr *v1alpha1.Route53HostedZone, s HostedZoneState) {
	st := &cr.Status
	st.ID, st.ARN, st.HostedZoneID, st.NameServers, st.ResourceRecordSetCount = s.ID, s.ARN, s.ID, s.NameServers, s.Records
}

// firstVPC returns the identifier of the VPC that the create associates, which takes one.
func firstVPC(want HostedZoneState) []string {
	ids := kind.SortedKeys(want.VPCs)
	return ids[:min(1, len(ids))]
}

func vpcOf(s HostedZoneState, id string) *types.VPC {
	return &types.VPC{VPCId: &id, VPCRegion: types.VPCRegion(s.VPCs[id].Region)}
}

// create sends a caller reference that contains the object's UID and the token of the attempt: Route 53 makes one zone for it,
// and shows it for as long as the zone exists.
func (z *hostedZone) create(ctx context.Context, want HostedZoneState, token string) (string, error) {
	in := &route53.CreateHostedZoneInput{Name: want.Name, CallerReference: aws.String(want.Reference + token),
		HostedZoneConfig: &types.HostedZoneConfig{Comment: kind.NonEmpty(want.Comment), PrivateZone: *want.Private}}
	for _, id := range firstVPC(want) {
		in.VPC = vpcOf(want, id)
	}
	out, err := z.api.CreateHostedZone(ctx, in)
	if err != nil || out.HostedZone == nil {
		return "", err
	}
	return zoneIDOf(out.HostedZone.Id), nil
}

func (z *hostedZone) describe(ctx context.Context, want HostedZoneState, look kind.Look) (kind.Seen[HostedZoneState], error) {
	found, duplicates, err := z.find(ctx, want)
	if err != nil || found == nil {
		return kind.Seen[HostedZoneState]{}, err
	}
	d, config := found.HostedZone, kind.NonNil(found.HostedZone.Config)
	id := zoneIDOf(d.Id)
	seen := kind.Seen[HostedZoneState]{Exists: true, Duplicates: duplicates, Proven: want.made(*d), State: HostedZoneState{
		ID: id, ARN: want.ARN + id, Records: aws.ToInt64(d.ResourceRecordSetCount), NameServers: kind.NonNil(found.DelegationSet).NameServers,
		Name: kind.Ptr(canonicalName(aws.ToString(d.Name))), Private: &config.PrivateZone, Comment: kind.NonNil(config.Comment), VPCs: map[string]VPC{},
	}}
	for _, v := range found.VPCs {
		seen.State.VPCs[aws.ToString(v.VPCId)] = VPC{string(v.VPCRegion)}
	}
	if n := seen.State.Records - ownRecords; look.Contents && n > 0 {
		seen.Holds = []kind.Hold{{Reason: status.ReasonHostedZoneNotEmpty, Message: fmt.Sprintf(
			"the hosted zone %s to be empty: it holds %d %s beside its NS and SOA records; delete them, or set deletionPolicy: Retain", id, n, kind.Either(n == 1, "record set", "record sets"))}}
	}
	return seen, nil
}

// made reports whether the caller reference of a zone shows that this object created it.
func (s HostedZoneState) made(d types.HostedZone) bool {
	return strings.HasPrefix(aws.ToString(d.CallerReference), s.Reference)
}

// find describes the zone of the object. Until its identifier is known, the zones of the name are searched for the caller
// reference and the tags of the object.
func (z *hostedZone) find(ctx context.Context, want HostedZoneState) (*route53.GetHostedZoneOutput, []string, error) {
	idOf := func(d route53.GetHostedZoneOutput) string { return zoneIDOf(d.HostedZone.Id) }
	var zones []types.HostedZone // those of the name
	var tagsOf map[string]map[string]string
	if want.Observing && want.Search.ID == "" {
		found, err := z.onlyOneNamed(ctx, want)
		return found, nil, err
	}
	return kind.Finder[route53.GetHostedZoneOutput]{
		ByID: z.byID,
		ByTags: func(ctx context.Context, tags map[string][]string) (out []route53.GetHostedZoneOutput, err error) {
			if tagsOf == nil {
				zones, tagsOf, err = z.namedWithTags(ctx, *want.Name)
			}
			for _, d := range zones {
				if id := zoneIDOf(d.Id); want.made(d) || carriesEach(tagsOf[id], tags) {
					whole, err := z.byID(ctx, id)
					if err != nil {
						return nil, err
					}
					if whole != nil {
						out = append(out, *whole)
					}
				}
			}
			return out, err
		},
		ID: idOf, Tags: func(d route53.GetHostedZoneOutput) map[string]string { return tagsOf[idOf(d)] },
	}.Find(ctx, want.Search)
}

func (z *hostedZone) byID(ctx context.Context, id string) (*route53.GetHostedZoneOutput, error) {
	return awsclient.Lookup(ctx, z.api.GetHostedZone, &route53.GetHostedZoneInput{Id: &id})
}

// onlyOneNamed returns the zone of the name, public or private as declared; nil when there is none. Its identifier is recorded, so
// that another zone of the name that comes later changes nothing. Zones of other owners do not count: every account can make a zone of
// any name.
func (z *hostedZone) onlyOneNamed(ctx context.Context, want HostedZoneState) (*route53.GetHostedZoneOutput, error) {
	zones, tagsOf, err := z.namedWithTags(ctx, *want.Name)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, d := range zones {
		mayUse := want.Search.MayUse == nil || want.Search.MayUse(tagsOf[zoneIDOf(d.Id)])
		if mayUse && kind.NonNil(d.Config).PrivateZone == *want.Private {
			ids = append(ids, zoneIDOf(d.Id))
		}
	}
	switch len(ids) {
	case 0:
		return nil, nil
	case 1:
		return z.byID(ctx, ids[0])
	default:
		slices.Sort(ids)
		return nil, status.Invalid("spec.importID", "%d %s hosted zones are called %s: %s; set the ID of one of them",
			len(ids), kind.Either(*want.Private, "private", "public"), *want.Name, strings.Join(ids, ", "))
	}
}

func carriesEach(have map[string]string, tags map[string][]string) bool {
	for key, values := range tags {
		if !slices.Contains(values, have[key]) {
			return false
		}
	}
	return true
}

// named lists the zones of a name. The list begins with the name, and other names follow.
func (z *hostedZone) named(ctx context.Context, name string) (zones []types.HostedZone, err error) {
	in := &route53.ListHostedZonesByNameInput{DNSName: &name}
	for more := true; more; {
		page, err := z.api.ListHostedZonesByName(ctx, in)
		if err != nil {
			return nil, err
		}
		same := slices.DeleteFunc(slices.Clone(page.HostedZones), func(d types.HostedZone) bool { return canonicalName(aws.ToString(d.Name)) != name })
		zones, more = append(zones, same...), page.IsTruncated && len(same) == len(page.HostedZones)
		in.DNSName, in.HostedZoneId = page.NextDNSName, page.NextHostedZoneId
	}
	return zones, nil
}

// namedWithTags lists the zones of a name and their tags.
func (z *hostedZone) namedWithTags(ctx context.Context, name string) ([]types.HostedZone, map[string]map[string]string, error) {
	zones, err := z.named(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	tagsOf := map[string]map[string]string{}
	for batch := range slices.Chunk(zones, maxBatch) {
		request := &route53.ListTagsForResourcesInput{ResourceType: types.TagResourceTypeHostedzone}
		for _, d := range batch {
			request.ResourceIds = append(request.ResourceIds, zoneIDOf(d.Id))
		}
		out, err := z.api.ListTagsForResources(ctx, request)
		if err != nil {
			return nil, nil, err
		}
		for _, set := range out.ResourceTagSets {
			tagsOf[aws.ToString(set.ResourceId)] = kind.TagMap(set.Tags)
		}
	}
	return zones, tagsOf, nil
}

func (z *hostedZone) tags(ctx context.Context, have HostedZoneState) (map[string]string, error) {
	out, err := z.api.ListTagsForResource(ctx, &route53.ListTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: &have.ID})
	if err != nil || out.ResourceTagSet == nil {
		return nil, err
	}
	return kind.TagMap(out.ResourceTagSet.Tags), nil
}

// replaceTags adds and removes tags in one call, because old and new ones together may be more than a zone can have.
func (z *hostedZone) replaceTags(ctx context.Context, have HostedZoneState, all map[string]string) error {
	in := &route53.ChangeTagsForResourceInput{ResourceType: types.TagResourceTypeHostedzone, ResourceId: &have.ID}
	added := maps.Clone(all)
	for _, key := range kind.SortedKeys(have.Tags) {
		value, kept := all[key]
		if !kept {
			in.RemoveTagKeys = append(in.RemoveTagKeys, key)
		} else if value == have.Tags[key] {
			delete(added, key)
		}
	}
	if len(added) > 0 {
		in.AddTags = kind.SDKTags[types.Tag](added)
	}
	_, err := z.api.ChangeTagsForResource(ctx, in)
	return err
}

func (z *hostedZone) associate(ctx context.Context, want, have HostedZoneState, keys []string) error {
	_, err := z.api.AssociateVPCWithHostedZone(ctx, &route53.AssociateVPCWithHostedZoneInput{HostedZoneId: &have.ID, VPC: vpcOf(want, keys[0])})
	if f := awsclient.Classify(err); f.Code == "ConflictingDomainExists" && strings.Contains(f.Message, have.ID) {
		return nil // associated with this zone already, which Route 53 may not show yet
	}
	return err
}

func (z *hostedZone) disassociate(ctx context.Context, _, have HostedZoneState, keys []string) error {
	_, err := awsclient.Lookup(ctx, z.api.DisassociateVPCFromHostedZone, &route53.DisassociateVPCFromHostedZoneInput{HostedZoneId: &have.ID, VPC: vpcOf(have, keys[0])})
	return err
}

func always(HostedZoneState) bool { return true }
