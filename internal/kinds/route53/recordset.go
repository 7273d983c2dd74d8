// SPDX-License-Identifier: Apache-2.0

package route53

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// RecordSetState is a record set as both the spec and Route 53 can express it.
type RecordSetState struct {
	ZoneID        string `drift:"identity"`
	Name          string `drift:"identity"`
	Type          string `drift:"identity"`
	SetIdentifier string `drift:"identity"`
	// Validation is set for the record of a certificate, which all certificates for the name share.
	Validation bool `drift:"id"`

	// Found and Owner are the record set and its owner record as Route 53 returned them, which a deletion must repeat.
	Found, Owner *types.ResourceRecordSet `drift:"observed"`
	Change       Change                   `drift:"observed"`
	// Target is the name of the load balancer, with its capitals, that gives an alias without hostedZoneID its zone.
	Target    string    `drift:"observed"`
	Ownership ownership `drift:"observed"`

	TTL           int64
	Values        []string `drift:"set"`
	Alias         Alias
	Weight        string // "" where there is none
	Region        string
	Failover      string
	Geo           Geo
	MultiValue    bool
	HealthCheckID string
	// Tags are the owner tags, which are in the owner record.
	Tags map[string]string `drift:"tags"`
}

// Change is a change of the record set that the operator requested.
type Change struct{ ID, Status string }

// pending says that the name servers do not have the change yet; empty when they have.
func (c Change) pending() string {
	if c.Status != string(types.ChangeStatusPending) {
		return ""
	}
	return "Route 53 brings change " + c.ID + " to its name servers"
}

// Alias is the target of an alias record.
type Alias struct {
	HostedZoneID, DNSName string
	EvaluateTargetHealth  bool
}

// Geo says where the users are who get the record set.
type Geo struct{ ContinentCode, CountryCode, SubdivisionCode string }

// maxOfName sets how many record sets of one name and type are read at a time.
const maxOfName = 100

type recordSet struct {
	api       *route53.Client
	balancers *elasticloadbalancingv2.Client
	// region is the region of the identity, where it finds load balancers.
	region string
	// requested are the last changes of record sets that the status of an object may not hold yet, by identifier.
	requested sync.Map
}

// NewRecordSet binds the Route53RecordSet kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonroute53.html
func NewRecordSet(cfg aws.Config) kind.Kind[*v1alpha1.Route53RecordSet, RecordSetState] {
	r := &recordSet{api: route53.NewFromConfig(cfg), balancers: elasticloadbalancingv2.NewFromConfig(cfg), region: cfg.Region}
	const changes = "route53:ChangeResourceRecordSets"
	return kind.FromTable(kind.Table[*v1alpha1.Route53RecordSet, RecordSetState]{
		Meta:     kind.Meta{Facts: recordSetFacts(), Identity: kind.ByName, References: []string{"Route53HostedZone", "Certificate"}, Reads: []string{findBalancers}},
		Identify: identifyRecords, Declare: declareRecords, Publish: publishRecords,
		Export:   kind.Export[*v1alpha1.Route53RecordSet, RecordSetState]{Identity: []string{"hostedZoneID", "name", "type", "setIdentifier" + kind.OptionalIdentity}, Spec: exportedRecords},
		Describe: kind.Read[RecordSetState]{Actions: []string{"route53:ListResourceRecordSets", "route53:GetChange"}, Do: r.describe},
		Create:   kind.Call[RecordSetState]{Action: changes, Do: r.create},
		Parts: []kind.Part[RecordSetState]{{Fields: []string{"TTL", "Values", "Alias", "Weight", "Region", "Failover", "Geo", "MultiValue", "HealthCheckID", "Tags"},
			InCreate: true, Write: kind.Call[RecordSetState]{Action: changes, DoDiff: r.update}}},
		Delete: []kind.Ending[RecordSetState]{{Call: kind.Call[RecordSetState]{Action: changes, Effect: kind.Ends, Do: r.remove}}},
	})
}

func identifyRecords(sc kind.Scope, cr *v1alpha1.Route53RecordSet) (RecordSetState, error) {
	in := cr.Spec
	s := RecordSetState{ZoneID: in.HostedZoneID, Name: canonicalName(in.Name), Type: in.Type, SetIdentifier: in.SetIdentifier,
		Change: Change{cr.Status.ChangeID, cr.Status.ChangeStatus}, Tags: kind.Only(sc.Tags, kind.SortedKeys(sc.OwnerTags))}
	if in.Validates != nil {
		if err := s.validates(sc, *in.Validates); err != nil {
			return s, err
		}
	}
	if in.HostedZoneRef != nil {
		target, err := sc.Ref("Route53HostedZone", in.HostedZoneRef.Name)
		if err != nil {
			return s, err
		}
		s.ZoneID = target.ID
	}
	s.Ownership = ownership{Signer: sc.Signer, MayUse: sc.MayUse, Recorded: sc.Recorded != nil && sc.Recorded(s.id())}
	var err error
	s.Tags, err = s.signed(s.Tags)
	return s, err
}

// defaultTTL is that of records that validate certificates, in seconds.
const defaultTTL = 300

// validates takes the record from the certificate, which ACM assigns some seconds after the request.
func (s *RecordSetState) validates(sc kind.Scope, in v1alpha1.RecordOfCertificate) error {
	certificate, err := sc.Ref("Certificate", in.CertificateRef.Name)
	if err != nil {
		return err
	}
	name, value, ok := strings.Cut(certificate.Attributes["validation/"+strings.TrimPrefix(string(in.DomainName), "*.")], " ")
	if !ok {
		return &status.Waiting{For: "Certificate/" + in.CertificateRef.Name + " to have a validation record for " + string(in.DomainName)}
	}
	s.Validation = true
	s.Name, s.Type, s.TTL = canonicalName(name), string(types.RRTypeCname), defaultTTL
	s.Values = []string{canonicalValue(s.Type, value)}
	return nil
}

func declareRecords(_ kind.Scope, cr *v1alpha1.Route53RecordSet, s *RecordSetState) error {
	in := cr.Spec
	if isReserved(s.Name) {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.name", Message: "labels that begin with " + ownerLabel + " are reserved for the records that hold the owners of record sets: choose another name"}
	}
	if in.Validates != nil {
		return nil
	}
	s.TTL, s.Values = aws.ToInt64(in.TTL), make([]string, 0, len(in.ResourceRecords))
	for _, v := range in.ResourceRecords {
		s.Values = append(s.Values, canonicalValue(in.Type, string(v)))
	}
	if in.AliasTarget != nil {
		s.Alias = Alias(*in.AliasTarget)
		s.Alias.DNSName = canonicalName(s.Alias.DNSName)
		if err := s.aimAtBalancer(in.AliasTarget.DNSName); err != nil {
			return err
		}
	}
	s.Weight, s.Region, s.Failover = *kind.NonNil(kind.Text(in.Weight)), in.Region, in.Failover
	s.Geo, s.MultiValue, s.HealthCheckID = Geo(*kind.NonNil(in.GeoLocation)), in.MultiValueAnswer, in.HealthCheckID
	return nil
}

// canonicalValue returns an IPv6 address in its shortest form, a name that a record leads to with its last dot, and every other value as
// it is. Route 53 takes names with and without that dot for the same, and an edit from one to the other changes nothing.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html
func canonicalValue(recordType, value string) string {
	switch types.RRType(recordType) {
	case types.RRTypeAaaa:
		if address, err := netip.ParseAddr(value); err == nil {
			return address.String()
		}
	case types.RRTypeCname, types.RRTypeMx, types.RRTypeNs, types.RRTypePtr, types.RRTypeSrv:
		if value != "" && !strings.HasSuffix(value, ".") {
			return value + "."
		}
	}
	return value
}

func publishRecords(cr *v1alpha1.Route53RecordSet, s RecordSetState) {
	st := &cr.Status
	st.ID, st.HostedZoneID, st.OwnerRecord = s.id(), s.ZoneID, s.ownerName()
	st.ChangeID, st.ChangeStatus = s.Change.ID, s.Change.Status
}

// id names the record set among those of all zones.
func (s RecordSetState) id() string {
	return strings.TrimSuffix(strings.Join([]string{s.ZoneID, strings.TrimSuffix(s.Name, "."), s.Type, s.SetIdentifier}, "_"), "_")
}

// wanted returns the record set as Route 53 takes it.
func (s RecordSetState) wanted() *types.ResourceRecordSet {
	out := &types.ResourceRecordSet{Name: &s.Name, Type: types.RRType(s.Type), SetIdentifier: kind.NonEmpty(&s.SetIdentifier), HealthCheckId: kind.NonEmpty(&s.HealthCheckID),
		Region: types.ResourceRecordSetRegion(s.Region), Failover: types.ResourceRecordSetFailover(s.Failover)}
	for _, v := range s.Values {
		out.ResourceRecords = append(out.ResourceRecords, types.ResourceRecord{Value: &v})
	}
	if len(s.Values) > 0 {
		out.TTL = &s.TTL
	}
	if s.Alias.DNSName != "" {
		out.AliasTarget = &types.AliasTarget{HostedZoneId: &s.Alias.HostedZoneID, DNSName: &s.Alias.DNSName, EvaluateTargetHealth: s.Alias.EvaluateTargetHealth}
	}
	if s.Weight != "" {
		out.Weight = parsedWeight(s.Weight)
	}
	if s.Geo != (Geo{}) {
		out.GeoLocation = &types.GeoLocation{ContinentCode: kind.NonEmpty(&s.Geo.ContinentCode), CountryCode: kind.NonEmpty(&s.Geo.CountryCode), SubdivisionCode: kind.NonEmpty(&s.Geo.SubdivisionCode)}
	}
	if s.MultiValue {
		out.MultiValueAnswer = &s.MultiValue
	}
	return out
}

// settings fills in the state from the answer of Route 53.
func (s *RecordSetState) settings(d *types.ResourceRecordSet) {
	alias, geo := kind.NonNil(d.AliasTarget), kind.NonNil(d.GeoLocation)
	s.Found, s.TTL, s.Values = d, aws.ToInt64(d.TTL), []string{}
	for _, v := range d.ResourceRecords {
		s.Values = append(s.Values, canonicalValue(s.Type, aws.ToString(v.Value)))
	}
	if d.AliasTarget != nil {
		s.Alias = Alias{aws.ToString(alias.HostedZoneId), canonicalName(aws.ToString(alias.DNSName)), alias.EvaluateTargetHealth}
		s.TTL = 0
	}
	s.Weight, s.Region, s.Failover = *kind.NonNil(kind.Text(d.Weight)), string(d.Region), string(d.Failover)
	s.Geo = Geo{aws.ToString(geo.ContinentCode), aws.ToString(geo.CountryCode), aws.ToString(geo.SubdivisionCode)}
	s.MultiValue, s.HealthCheckID = aws.ToBool(d.MultiValueAnswer), aws.ToString(d.HealthCheckId)
}

// describe reads the record set, its owner record, and how far the last change is. While deleting, an owner record without a
// record set counts as the resource, so that it is not left behind.
func (r *recordSet) describe(ctx context.Context, want RecordSetState, look kind.Look) (kind.Seen[RecordSetState], error) {
	if isReserved(want.Name) { // of an object of an earlier version that is being deleted: no such record is an object's
		return kind.Seen[RecordSetState]{}, nil
	}
	s := RecordSetState{ZoneID: want.ZoneID, Name: want.Name, Type: want.Type, SetIdentifier: want.SetIdentifier}
	d, inZone, err := r.lookup(ctx, want.ZoneID, types.ResourceRecordSet{Name: &want.Name, Type: types.RRType(want.Type), SetIdentifier: kind.NonEmpty(&want.SetIdentifier)})
	if err != nil {
		return kind.Seen[RecordSetState]{}, err
	}
	owner, stillInZone, err := r.lookup(ctx, want.ZoneID, types.ResourceRecordSet{Name: kind.Ptr(want.ownerName()), Type: types.RRTypeTxt})
	if err != nil {
		return kind.Seen[RecordSetState]{}, err
	}
	if inZone != stillInZone { // an owner record without its record set would be deleted, and leave that behind
		return kind.Seen[RecordSetState]{}, &status.Waiting{For: "a second look: Route 53 listed records of zone " + want.ZoneID + " and answered that it does not exist", After: time.Second, Usable: true}
	}
	s.Owner = owner
	if s.Tags, err = want.believed(tagsIn(s.Owner)); err != nil {
		return kind.Seen[RecordSetState]{}, err
	}
	seen := kind.Seen[RecordSetState]{Exists: d != nil, Tags: s.Tags, Shared: want.Validation}
	if d == nil && look.Deleting {
		seen.Exists = isOwn(want.Tags, s.Tags)
	}
	if d != nil {
		s.settings(d)
		s.forgetZone(want)
	}
	if !look.Deleting {
		err = r.follow(ctx, want, d != nil, &s)
	}
	seen.Busy, seen.State = s.Change.pending(), s
	return seen, err
}

// follow reads how far the last change of a record set is; where there is none, it refuses one that is another object's to make.
func (r *recordSet) follow(ctx context.Context, want RecordSetState, exists bool, s *RecordSetState) (err error) {
	if exists {
		s.Change, err = r.change(ctx, want)
		return err
	}
	if err := refuseClaimed(want, *s); err != nil {
		return err
	}
	return r.refuseNeighbors(ctx, want)
}

// lookup returns the record set with the name, type and identifier of key, nil where there is none, and whether the zone exists.
func (r *recordSet) lookup(ctx context.Context, zone string, key types.ResourceRecordSet) (found *types.ResourceRecordSet, inZone bool, err error) {
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &zone, StartRecordName: key.Name, StartRecordType: key.Type, MaxItems: aws.Int32(maxOfName)}
	if key.SetIdentifier == nil {
		in.MaxItems = aws.Int32(1)
	}
	for {
		page, err := awsclient.Lookup(ctx, r.api.ListResourceRecordSets, in)
		if page == nil {
			return nil, false, err
		}
		for _, d := range page.ResourceRecordSets {
			switch {
			case canonicalName(aws.ToString(d.Name)) != *key.Name || d.Type != key.Type:
				return nil, true, nil
			case aws.ToString(d.SetIdentifier) == aws.ToString(key.SetIdentifier):
				return &d, true, nil
			}
		}
		if !page.IsTruncated || *in.MaxItems == 1 {
			return nil, true, nil
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = page.NextRecordName, page.NextRecordType, page.NextRecordIdentifier
	}
}

// change returns how far the last change is that the operator requested.
func (r *recordSet) change(ctx context.Context, want RecordSetState) (Change, error) {
	last := want.Change
	if id, ok := r.requested.Load(want.id()); ok && id != last.ID {
		last = Change{id.(string), string(types.ChangeStatusPending)}
	}
	if last.Status != string(types.ChangeStatusPending) {
		r.requested.Delete(want.id())
		return last, nil
	}
	out, err := awsclient.Lookup(ctx, r.api.GetChange, &route53.GetChangeInput{Id: &last.ID})
	if err != nil {
		return last, err
	}
	last.Status = string(types.ChangeStatusInsync) // of a change that Route 53 no longer knows
	if out != nil && out.ChangeInfo != nil {
		last.Status = string(out.ChangeInfo.Status)
	}
	return last, nil
}

// send requests changes, which Route 53 makes all together or not at all, and remembers the request.
func (r *recordSet) send(ctx context.Context, s RecordSetState, changes ...types.Change) error {
	out, err := r.api.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &s.ZoneID, ChangeBatch: &types.ChangeBatch{Changes: changes}})
	if err != nil {
		return explainBatch(err)
	}
	if out.ChangeInfo != nil {
		r.requested.Store(s.id(), strings.TrimPrefix(aws.ToString(out.ChangeInfo.Id), "/change/"))
	}
	return nil
}

func changeOf(action types.ChangeAction, records *types.ResourceRecordSet) types.Change {
	return types.Change{Action: action, ResourceRecordSet: records}
}

// create is refused where either record exists. An owner record that this object, or an earlier one of its name, left is replaced.
func (r *recordSet) create(ctx context.Context, want, have RecordSetState) error {
	want, err := r.complete(ctx, want, have)
	if err != nil {
		return err
	}
	action := kind.Either(have.Owner == nil, types.ChangeActionCreate, types.ChangeActionUpsert)
	return r.send(ctx, want, changeOf(types.ChangeActionCreate, want.wanted()), changeOf(action, want.ownerRecord(want.Tags)))
}

// update replaces the record set, its owner record, or both.
func (r *recordSet) update(ctx context.Context, want, have RecordSetState, diff kind.Diff) error {
	var changes []types.Change
	if slices.ContainsFunc(diff, func(c kind.Change) bool { return !c.At("Tags") }) {
		whole, err := r.complete(ctx, want, have)
		if err != nil {
			return err
		}
		changes = append(changes, changeOf(types.ChangeActionUpsert, whole.wanted()))
	}
	set, removed := diff.Keys("Tags")
	tags := kind.MergeTags(have.Tags, kind.Only(want.Tags, set), removed)
	switch {
	case len(set)+len(removed) == 0:
	case tags[wellknown.TagOwnerUID] == "":
		changes = append(changes, changeOf(types.ChangeActionDelete, have.Owner))
	default:
		changes = append(changes, changeOf(types.ChangeActionUpsert, want.ownerRecord(tags)))
	}
	return r.send(ctx, want, changes...)
}

// remove repeats the records that it deletes: Route 53 refuses the request if either record was changed since.
func (r *recordSet) remove(ctx context.Context, _, have RecordSetState) error {
	var changes []types.Change
	for _, records := range []*types.ResourceRecordSet{have.Found, have.Owner} {
		if records != nil {
			changes = append(changes, changeOf(types.ChangeActionDelete, records))
		}
	}
	err := r.send(ctx, have, changes...)
	r.requested.Delete(have.id())
	return err
}

func parsedWeight(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
