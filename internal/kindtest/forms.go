// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// form is another form of an answer of AWS with the same meaning.
type form struct {
	name string
	// change changes a member into the form, and reports whether it did.
	change func(m member) bool
}

var allForms = []form{
	{name: "lists in another order", change: reorder},
	{name: "empty members left out", change: leaveOutEmpty},
	{name: "empty lists in the place of none", change: giveEmptyList},
	{name: "defaults left out", change: leaveOutDefault},
	{name: "defaults in the place of none", change: giveDefault},
}

func reorder(m member) bool {
	v := settable(m.value)
	switch {
	case v.Kind() == reflect.String && v.Len() > 0:
		text := reversePolicy(v.String())
		changed := text != v.String()
		v.SetString(text)
		return changed
	case v.Kind() != reflect.Slice || v.Len() < 2 || v.Type().Elem().Kind() == reflect.Uint8 || ordered[m.name()] != "":
		return false
	}
	reverse(v)
	return true
}

func leaveOutEmpty(m member) bool {
	if entries, ok := m.value.Interface().(map[string]string); ok && m.field.Name == "Attributes" {
		before := len(entries) // the settings of a queue or a topic, all of them texts
		maps.DeleteFunc(entries, func(_, value string) bool { return value == "" || value == "false" })
		return len(entries) < before
	}
	if m.value.IsZero() || !isEmpty(m.value) || !m.isOptional() || present[m.name()] != "" {
		return false
	}
	m.value.SetZero()
	return true
}

func giveEmptyList(m member) bool {
	v := m.value
	if v.Kind() != reflect.Slice || !v.IsNil() {
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return true
}

// ordered are the lists with a meaningful order, each with the reason, so that AWS keeps it.
var ordered = map[string]string{
	"dynamodb.TableDescription.KeySchema":                     hashFirst,
	"dynamodb.GlobalSecondaryIndexDescription.KeySchema":      hashFirst,
	"dynamodb.LocalSecondaryIndexDescription.KeySchema":       hashFirst,
	"glue.StorageDescriptor.Columns":                          "the columns of files without names are found by their order",
	"glue.Table.PartitionKeys":                                "the folders of partitions are in their order",
	"lambda.ImageConfig.Command":                              argumentsOfProgram,
	"lambda.ImageConfig.EntryPoint":                           argumentsOfProgram,
	"lambda.FunctionConfiguration.Layers":                     "a layer hides the files of those before it",
	"s3.GetBucketCorsOutput.CORSRules":                        "the first rule that matches a request decides",
	"route53.ListResourceRecordSetsOutput.ResourceRecordSets": "Route 53 lists record sets by their names, from the one that the request names",
}

const (
	hashFirst          = "CreateTable demands the hash key first, and DescribeTable shows the keys in that order"
	argumentsOfProgram = "arguments of a program"
)

// present are the members without content that are a setting by their presence alone, with the reason, so that AWS does not leave them out.
var present = map[string]string{
	"s3.GetBucketNotificationConfigurationOutput.EventBridgeConfiguration": "an empty element turns the notifications on",
}

// unusedStates are the states that affect no decision of a kind, by kind and member, with the reason.
var unusedStates = map[string]string{
	"Certificate acm.DescribeCertificate Certificate.DomainValidationOptions.ValidationStatus":      "the status of the certificate is that of all its domains",
	"DynamoDBTable dynamodb.DescribeTable Table.WarmThroughput.Status":                              noField,
	"DynamoDBTable dynamodb.DescribeTable Table.GlobalSecondaryIndexes.WarmThroughput.Status":       noField,
	"DynamoDBTable dynamodb.DescribeTable Table.SSEDescription.Status":                              "the table is UPDATING while its encryption changes",
	"ECSCluster ecs.DescribeCapacityProviders CapacityProviders.Status":                             "a provider belongs to its cluster in each state",
	"VPC ec2.DescribeVpcs Vpcs.CidrBlockAssociationSet.CidrBlockState.State":                        noField,
	"RouteTable ec2.DescribeRouteTables RouteTables.Routes.State":                                   "a route whose target is gone is as declared",
	"RouteTable ec2.DescribeRouteTables RouteTables.Associations.AssociationState.State":            countsAsMade,
	"EC2Instance ec2.DescribeInstances Reservations.Instances.NetworkInterfaces.Status":             noField,
	"EC2Instance ec2.DescribeInstances Reservations.Instances.NetworkInterfaces.Attachment.Status":  noField,
	"EC2Instance ec2.DescribeInstances Reservations.Instances.BlockDeviceMappings.Ebs.Status":       noField,
	"EC2Instance ec2.DescribeInstances Reservations.Instances.MetadataOptions.State":                countsAsMade,
	"ElastiCacheCluster elasticache.DescribeCacheClusters CacheClusters.SecurityGroups.Status":      "a group counts as there until it is removed",
	"ElastiCacheCluster elasticache.DescribeCacheClusters CacheClusters.CacheNodes.CacheNodeStatus": "the cluster has the status of its nodes",
	"GlueCrawler glue.GetCrawler Crawler.Schedule.State":                                            countsAsMade,
	"GlueCrawler glue.GetCrawler Crawler.LastCrawl.Status":                                          noField,
	"DBSubnetGroup rds.DescribeDBSubnetGroups DBSubnetGroups.SubnetGroupStatus":                     onlyComplete,
	"DBSubnetGroup rds.DescribeDBSubnetGroups DBSubnetGroups.Subnets.SubnetStatus":                  noField,
	"RDSInstance rds.DescribeDBInstances DBInstances.DBSubnetGroup.SubnetGroupStatus":               onlyComplete,
	"RDSInstance rds.DescribeDBInstances DBInstances.DBSubnetGroup.Subnets.SubnetStatus":            noField,
	"RDSInstance rds.DescribeDBInstances DBInstances.VpcSecurityGroups.Status":                      countsAsMade,
	"RDSInstance rds.DescribeDBInstances DBInstances.OptionGroupMemberships.Status":                 noField,
	"RDSInstance rds.DescribeDBInstances DBInstances.MasterUserSecret.SecretStatus":                 "the instance has a managed password in each of them",
	"RDSInstance rds.DescribeDBInstances DBInstances.DBParameterGroups.ParameterApplyStatus":        countsAsMade,
}

const (
	noField      = "no field is about it"
	countsAsMade = "a change that AWS accepted counts as made"
	onlyComplete = "AWS documents no state but Complete"
)

// forms holds which answers were changed, over all that the suite does with one kind.
type forms struct {
	kind string
	// values lists the values of the fields of the spec that were declared at rest.
	values fieldValues
	// named are the paths of the fields that name other resources and were declared at rest.
	named map[string]bool
	// changed are the members that each form has changed.
	changed map[string]map[string]bool
	// alone are the members that were changed alone, by the change to them.
	alone map[string]bool
	// waited has, of each state that was replaced by an unknown one, whether the kind has waited for it.
	waited map[string]bool
	// states are the outcomes of each state that the SDK knows, by member.
	states map[string][]string
}

func newForms(kindName string) *forms {
	return &forms{kind: kindName, values: fieldValues{}, named: map[string]bool{}, changed: map[string]map[string]bool{},
		alone: map[string]bool{}, waited: map[string]bool{},
		states: map[string][]string{}}
}

// check decides again with the answers that were recorded at rest, in each other form that AWS may give them in.
func (f *forms) check(t *testing.T, s *Subject, of *answers.Recording) {
	t.Helper()
	addNamed(f.named, specOf(s.Object), f.kind)
	if !f.values.adds(t, specOf(s.Object)) && !extent.IsFull(t) {
		return
	}
	for _, form := range allForms {
		changed := map[string]bool{}
		p, err := s.replay(t.Context(), of, func(m member) {
			if form.change(m) {
				changed[m.name()] = true
			}
		})
		if err != nil || p.Cause != engine.InSync && p.Cause != engine.Gone || len(p.Diff)+len(p.Steps) > 0 {
			t.Errorf("AWS answers with %s: %v, %s %+v, changed: %q", form.name, awsErr(err), p.Cause, p.Diff, slices.Sorted(maps.Keys(changed)))
		}
		if f.changed[form.name] == nil {
			f.changed[form.name] = map[string]bool{}
		}
		maps.Copy(f.changed[form.name], changed)
	}
	f.checkAlone(t, s, of)
}

const unknownValue = "VALUE_OF_TOMORROW"

// checkAlone changes members one by one, each once in the life of a kind: those that AWS may leave out are left out, and states and
// other enumerations have a value that the SDK does not know.
func (f *forms) checkAlone(t *testing.T, s *Subject, of *answers.Recording) {
	t.Helper()
	var found []member
	_, _ = s.replay(t.Context(), of, func(m member) { found = append(found, m) }) // decided before
	for _, m := range found {
		if m.isOptional() && !isEmpty(m.value) && f.first("left out", m) {
			_, _ = s.changed(t, of, m, reflect.Value.SetZero) // it must not panic
		}
		if m.isState() {
			f.recordStates(t, s, of, m)
		}
		if m.isState() && !f.waited[m.path] {
			p, err := s.changed(t, of, m, setUnknown)
			f.checkState(t, m, p, err)
		} else if !m.isState() && m.isEnum() && f.first("unknown value", m) {
			_, _ = s.changed(t, of, m, setUnknown)
		}
	}
}

// statesOfGuides are the states that no model of AWS lists, with the page that does.
var statesOfGuides = map[string][]string{
	// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html
	"rds.DBInstance.DBInstanceStatus": strings.Fields("available backing-up configuring-enhanced-monitoring configuring-iam-database-auth " +
		"configuring-log-exports converting-to-vpc creating delete-precheck deleting failed inaccessible-encryption-credentials " +
		"inaccessible-encryption-credentials-recoverable incompatible-create incompatible-network incompatible-option-group " +
		"incompatible-parameters incompatible-restore insufficient-capacity maintenance modifying moving-to-vpc rebooting " +
		"resetting-master-credentials renaming restore-error starting stopped stopping storage-config-upgrade storage-full " +
		"storage-initialization storage-optimization upgrading"),
}

// states returns the states that AWS documents of a member: in the SDK, in the text of its model, or in a guide.
func (m member) states() []string {
	a, err := models()
	if err != nil {
		panic(err) // the table is embedded
	}
	known := slices.Concat(valuesOf(settable(m.value)), a.States[m.service][m.shape+"."+m.field.Name], statesOfGuides[m.name()])
	slices.Sort(known)
	return slices.Compact(known)
}

// recordStates decides with each state that AWS documents of a member, in the first answer that has it.
func (f *forms) recordStates(t *testing.T, s *Subject, of *answers.Recording, m member) {
	t.Helper()
	if f.states[m.path] != nil || unusedStates[f.kind+" "+m.path] != "" {
		return
	}
	f.states[m.path] = []string{}
	for _, value := range m.states() {
		p, err := s.changed(t, of, m, func(v reflect.Value) { settable(v).SetString(value) })
		f.states[m.path] = append(f.states[m.path], value+": "+outcomeOf(p, err))
	}
}

// outcomeOf describes a decision in a few words.
func outcomeOf(p engine.Plan, err error) string {
	if stalled, ok := status.AsStalled(err); ok {
		return "stalled " + stalled.Reason
	}
	if waiting, ok := status.AsWaiting(err); ok {
		return "waits " + waiting.Reason
	}
	if err != nil {
		return "fails"
	}
	var calls []string
	for _, step := range p.Steps {
		calls = append(calls, step.Action)
	}
	return strings.TrimSpace(string(p.Cause) + " " + kind.Either(p.Usable, "usable ", "") + strings.Join(calls, " "))
}

func setUnknown(v reflect.Value) { settable(v).SetString(unknownValue) }

// first reports whether this was not done to the member before.
func (f *forms) first(what string, m member) bool {
	key := what + " " + m.path
	done := f.alone[key]
	f.alone[key] = true
	return !done
}

// checkState asserts that a state that no one knows is waited for, under its name. Where nothing of an object depends on it, another
// object must show that.
func (f *forms) checkState(t *testing.T, m member, p engine.Plan, err error) {
	t.Helper()
	waiting, isWaiting := status.AsWaiting(err)
	switch {
	case p.Cause == engine.Busy && strings.Contains(p.Reason, unknownValue), isWaiting && strings.Contains(waiting.Error(), unknownValue):
		f.waited[m.path] = true
	case err == nil && p.Cause == engine.InSync:
		f.waited[m.path] = false
	default:
		t.Errorf("an unknown state in %s of %s: %v, %s %q %+v, want a wait that names it", m.path, f.kind, awsErr(err), p.Cause, p.Reason, p.Diff)
	}
}

// report fails for states that the kind never waited for, and prints the covered members.
func (f *forms) report(t *testing.T) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(f.waited)) {
		if isUnused := unusedStates[f.kind+" "+path] != ""; f.waited[path] == isUnused {
			t.Errorf("%s waits for an unknown %s: %t; unusedStates says that nothing depends on it: %t", f.kind, path, f.waited[path], isUnused)
		}
	}
	if text := f.statesText(); text != "" {
		golden.Check(t, "states-"+strings.ToLower(f.kind)+".txt", text)
	}
	by := map[string]int{}
	for key := range f.alone {
		by[strings.Join(strings.Fields(key)[:2], " ")]++
	}
	for form, members := range f.changed {
		by[form] = len(members)
	}
	t.Logf("%s: %d fields at rest; members of answers: %v, %d unknown states", f.kind, len(f.values), by, len(f.waited))
}

// statesText lists the decision in each state that AWS documents, so that a person has decided each.
func (f *forms) statesText() string {
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f.states)) {
		for _, outcome := range f.states[path] {
			text.WriteString(path + " " + outcome + "\n")
		}
	}
	return text.String()
}

// changed decides with one member of the recorded answers changed.
func (s *Subject) changed(t *testing.T, of *answers.Recording, m member, change func(reflect.Value)) (p engine.Plan, err error) {
	t.Helper()
	defer func() {
		if panicked := recover(); panicked != nil {
			t.Errorf("with another %s: %v", m.path, panicked)
		}
	}()
	return s.replay(t.Context(), of, func(other member) {
		if other.path == m.path && !other.value.IsZero() {
			change(other.value)
		}
	})
}

// replay decides with recorded answers. The function each edits their members.
func (s *Subject) replay(ctx context.Context, of *answers.Recording, each func(m member)) (engine.Plan, error) {
	var mu sync.Mutex // reads may be made at the same time
	return s.binding().Decide(of.Replay(ctx, func(operation string, output any) {
		mu.Lock()
		defer mu.Unlock()
		eachMember(operation, output, each)
	}), s.Scope(), s.Owner(), s.stored())
}
