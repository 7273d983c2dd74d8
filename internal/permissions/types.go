// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// anyCreate is the create action of the kind AWSResource, which manages resources of the allowed types.
const anyCreate = "cloudformation:CreateResource"

// typeGrants are the rights of the handlers of the allowed types, with notices about them for the administrator.
type typeGrants struct {
	scope   Scope
	table   *typeTable
	grants  grants
	left    map[string][]string // left out, by the reason
	without map[string][]string // not limited to resources of the operator, by type
}

// ofTypes returns the rights of the types that the scope allows, and notices about them.
func (s Scope) ofTypes(metas []kind.Meta) (grants, []string, error) {
	if len(s.Types) == 0 {
		return nil, nil, nil
	}
	if !slices.Contains(actionsOf(metas), anyCreate) {
		return nil, nil, fmt.Errorf("--types are managed by the kind AWSResource: name it in --kinds")
	}
	table, err := typeRightsOfAWS()
	if err != nil {
		return nil, nil, err
	}
	names, err := s.allowedTypes(table)
	if err != nil {
		return nil, nil, err
	}
	t := &typeGrants{scope: s, table: table, left: map[string][]string{}, without: map[string][]string{}}
	for _, name := range names {
		t.addType(name)
	}
	return t.grants, t.notices(names), nil
}

// allowedTypes expands the patterns as the operator does, over the types of the table.
func (s Scope) allowedTypes(table *typeTable) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(table.Types)) {
		if exact := slices.Contains(s.Types, name); exact || s.TypedTypes[name] == "" && kind.AllowsType(s.Types, name) {
			out = append(out, name)
		}
	}
	for _, pattern := range s.Types {
		if !slices.ContainsFunc(out, func(name string) bool { return kind.AllowsType([]string{pattern}, name) }) {
			return nil, table.whyNone(pattern)
		}
	}
	return out, nil
}

// whyNone returns the error of a pattern that allows no type.
func (t *typeTable) whyNone(pattern string) error {
	service, isPattern := strings.CutSuffix(pattern, "::*")
	for name := range t.Types {
		if isPattern && strings.Count(service, "::") == 1 && strings.HasPrefix(name, service+"::") {
			return fmt.Errorf("--types: %s allows no type: those of %s give rights or have a kind, and are allowed by their exact names only",
				pattern, service)
		}
	}
	return fmt.Errorf("--types: %s is not among the types of %s: correct it, or, for a newer type, give the role the rights in the handlers of the schema that `aws cloudformation describe-type --type RESOURCE --type-name NAME` prints",
		pattern, t.Source)
}

// passedByType has the services that get the roles of types which a capability composes. Schemas do not name them.
var passedByType = map[string]string{"AWS::Bedrock::KnowledgeBase": "bedrock.amazonaws.com",
	"AWS::BedrockAgentCore::Runtime": "bedrock-agentcore.amazonaws.com",
	"AWS::BedrockAgentCore::Gateway": "bedrock-agentcore.amazonaws.com"}

// addType adds the rights of one type.
func (t *typeGrants) addType(name string) {
	rights := t.table.Types[name]
	var all []string
	for _, list := range []actionList{rights.Create, rights.Read, rights.Update, rights.Delete, rights.List} {
		all = append(all, list.all()...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, action := range all {
		if reason := t.scope.whyLeftOut(name, action, t.table.Actions[action]); reason != "" {
			t.left[reason] = append(t.left[reason], name+" "+action)
			continue
		}
		where, limited := t.scope.typed(rights, action, t.ofType(all, action))
		for _, w := range where {
			if service := passedByType[name]; action == passRole && service != "" {
				w.condition = t.scope.passedTo(service)
			}
			t.grants.add(action, w)
		}
		if !limited {
			t.without[name] = append(t.without[name], action)
		}
	}
}

// manyResources limits the types of resources that a policy lists for one action. Only actions on the tags of whole services, such as
// EC2, are about more.
const manyResources = 30

// own returns the templates of an action that are the only ones of another right of the type, if AWS evaluates their tags: the resources of
// the type, where the action is about many types.
func (t *typeGrants) own(all []string, known typedAction) string {
	var out []string
	for _, other := range all {
		if o := t.table.Actions[other]; o.Tagged && slices.Contains(strings.Fields(known.ARNs), o.ARNs) {
			out = append(out, o.ARNs)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// ofType returns the resources that AWS evaluates for an action. If there are many, only those remain that other rights of the type are
// about.
func (t *typeGrants) ofType(all []string, action string) typedAction {
	known := t.table.Actions[action]
	known.own = t.own(all, known)
	resources := strings.Fields(known.ARNs)
	if len(resources) <= manyResources {
		return known
	}
	var kept []string
	for _, other := range all {
		if about := strings.Fields(t.table.Actions[other].ARNs); len(about) <= manyResources {
			kept = append(kept, slices.DeleteFunc(about, func(arn string) bool { return !slices.Contains(resources, arn) })...)
		}
	}
	if len(kept) > 0 {
		known.ARNs = strings.Join(kept, " ")
	}
	return known
}

// The reasons not to print a right that a schema lists.
const (
	leftWildcard = "a wildcard would allow more than the handlers call"
	leftRights   = "it gives rights"
	leftUnknown  = "AWS documents no such action of IAM"
	leftPass     = "any role could be passed: name --role-path or --name-prefix"
)

// harmlessWildcards matches actions with a wildcard that change nothing and show no data.
var harmlessWildcards = regexp.MustCompile(`:(Describe|List)[A-Za-z]*\*$`)

// removesBoundary matches the actions that end the effect of a permissions boundary.
var removesBoundary = regexp.MustCompile(`^iam:Delete[A-Za-z]*PermissionsBoundary$`)

// whyLeftOut says why a right is not printed; empty where it is. Rights to change IAM, and to act as roles, are printed for the types of
// IAM alone, which are allowed by their exact names: with them, a handler of another service could be led to give rights.
func (s Scope) whyLeftOut(typeName, action string, known typedAction) string {
	service, _, _ := strings.Cut(action, ":")
	switch {
	case strings.Contains(action, "*"):
		return kind.Either(harmlessWildcards.MatchString(action), "", leftWildcard)
	case action == passRole:
		return kind.Either(strings.Trim(s.RolePath, "/")+s.NamePrefix == "", leftPass, "")
	case action == serviceLinkedRole:
		return ""
	case service == "iam" && known.Level == "":
		return leftUnknown
	case service == "sts", s.Boundary != "" && removesBoundary.MatchString(action), changesRights(typeName, service, known):
		return leftRights
	default:
		return ""
	}
}

// changesRights reports whether an action changes IAM or the organization, and is one of the handlers of a type of another service.
func changesRights(typeName, service string, known typedAction) bool {
	types := map[string]string{"iam": "AWS::IAM::", "organizations": "AWS::Organizations::"}[service]
	return types != "" && !known.reads() && !strings.HasPrefix(typeName, types)
}

// showsData matches actions that only read, and show the data in the resources.
var showsData = regexp.MustCompile(`^(cassandra:Select|dynamodb:(BatchGetItem|GetItem|Query|Scan)|ecr:BatchGetImage|lambda:GetFunction|logs:StartQuery|` +
	`s3:GetObject(Version)?|secretsmanager:GetSecretValue|ssm:GetParameters?)$`)

// typed returns the targets of an action of a type's handlers, and whether they are limited to resources of the operator. An action that
// only reads settings counts as limited.
func (s Scope) typed(rights typeRights, action string, known typedAction) (where []target, limited bool) {
	service, _, _ := strings.Cut(action, ":")
	if where := s.typedIAM(action, known); where != nil {
		return where, true
	}
	arns, isNamed := s.arnsOf(known), s.isLimitedByName(service, known)
	switch {
	case known.ARNs == "", rights.listsAll(action, known):
		return []target{{resources: everywhere}}, known.reads() || strings.Contains(action, "*")
	case known.reads():
		return []target{{resources: arns}}, isNamed || !showsData.MatchString(action)
	case known.Level == "Tagging" && s.needsOwnTags(service, isNamed):
		return s.typedTagging(rights, action, known)
	case isNamed:
		return []target{{resources: arns}}, true
	case rights.createsUnnamed(action, known):
		return []target{{resources: arns}, {everywhere, given}}, false
	case s.isOwnByTags(rights, action, known):
		return []target{{arns, ours}}, true
	default:
		return []target{{resources: arns}}, false
	}
}

// typedIAM returns where the actions of IAM are needed that names and tags do not limit; nil for all others.
func (s Scope) typedIAM(action string, known typedAction) []target {
	service, operation, _ := strings.Cut(action, ":")
	switch {
	case action == passRole:
		return []target{{resources: s.roles()}}
	case action == serviceLinkedRole: // AWS chooses the policies of these roles
		return []target{{resources: []string{s.inIAM("role/aws-service-role/*")}}}
	case service == "iam" && s.Boundary != "" && slices.Contains(grantsPermissions, strings.Replace(operation, "User", "Role", 1)):
		return []target{{s.arnsOf(known), stringEquals("iam:PermissionsBoundary", s.Boundary)}}
	default:
		return nil
	}
}

// needsOwnTags reports whether a right to change tags would be one to all that is limited by tags: names do not limit it, or the service is
// EC2, which limits all other actions by tags.
func (s Scope) needsOwnTags(service string, isNamed bool) bool {
	return !s.Adopt && (service == "ec2" || !isNamed)
}

// isLimitedByName reports whether a resource of every request has a name that begins with the prefix, or lies at the path of roles.
func (s Scope) isLimitedByName(service string, known typedAction) bool {
	if s.NamePrefix == "" && (service != "iam" || strings.Trim(s.RolePath, "/") == "") {
		return false
	}
	return slices.ContainsFunc(strings.Fields(known.Required), nameOfResource.MatchString) ||
		!slices.ContainsFunc(strings.Fields(known.ARNs), func(arn string) bool { return !nameOfResource.MatchString(arn) })
}

// typedTagging limits an action on tags: a right to tag any resource is one to everything that is limited by tags. It allows tags that a
// create gives, which EC2 alone can tell from others, and the change of tags of resources that are the operator's.
func (s Scope) typedTagging(rights typeRights, action string, known typedAction) (where []target, limited bool) {
	arns := s.arnsOf(known)
	switch creates := ec2CreatesIn(rights.Create); {
	case action == "ec2:CreateTags" && len(creates) > 0:
		return []target{{arns, iampolicy.Conditions{"StringEquals": {"ec2:CreateAction": creates}}}, {arns, ours}}, true
	case action == "ec2:CreateTags", action == "ec2:DeleteTags":
		return []target{{arns, ours}}, true
	case known.Given && known.Tagged:
		return []target{{arns, given}, {arns, ours}}, false
	case known.Given && known.own != "": // an update gives the operator's resource a tag of people
		return []target{{arns, given}, {s.filled(known.own), ours}}, false
	case known.Given:
		return []target{{arns, given}}, false
	case known.Tagged:
		return []target{{arns, ours}}, true
	case known.own != "":
		return []target{{s.filled(known.own), ours}}, true
	default:
		return []target{{resources: arns}}, false
	}
}

// listsAll reports whether an action lists the resources of a type, and a request may name one of them. For a request that names none, AWS
// evaluates no resource.
func (r typeRights) listsAll(action string, known typedAction) bool {
	return known.Level == "List" && known.Required == "" && r.List.has(action) && !strings.Contains(action, "Tags")
}

// createsUnnamed reports whether an action makes a resource of a type with its tags, and is about other resources, which a request may
// name. For a request that names none, AWS evaluates no resource.
func (r typeRights) createsUnnamed(action string, known typedAction) bool {
	_, operation, _ := strings.Cut(action, ":")
	return strings.HasPrefix(operation, "Create") && r.Create.has(action) && r.Tagged && known.Given && known.Required == "" &&
		!nameOfResource.MatchString(known.ARNs)
}

// isOwnByTags reports whether the tags of the operator are on every resource that an action changes: the create gives them, and only the
// update or the deletion calls the action. In a create, a handler may call it before it sets the tags.
func (s Scope) isOwnByTags(rights typeRights, action string, known typedAction) bool {
	if strings.HasPrefix(action, "kms:") && known.Tagged { // the key policy of another key can allow its use
		return true
	}
	return !s.Adopt && rights.Tagged && known.Tagged && !rights.Create.has(action) && !rights.Read.has(action) && !rights.List.has(action)
}

// ec2CreatesIn returns the actions of EC2 in a list, without the service, that make a resource.
func ec2CreatesIn(list actionList) (out []string) {
	for _, action := range list.all() {
		if operation, ok := strings.CutPrefix(action, "ec2:"); ok && operation != "CreateTags" &&
			(strings.HasPrefix(operation, "Create") || strings.HasPrefix(operation, "Allocate") || strings.HasPrefix(operation, "Run")) {
			out = append(out, operation)
		}
	}
	return out
}

// placeholder matches the parts of the template of an ARN that differ between resources.
var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// nameOfResource matches placeholders for names that the creator of the resource chooses. AWS assigns other parts.
var nameOfResource = regexp.MustCompile(`\$\{[A-Za-z]*Name(WithPath|WithoutLeadingSlash)?\}|\$\{SecretId\}`)

// arnsOf fills the templates of an action: the first name in each begins with the prefix, and the roles of IAM with the path. Of too many
// resources, only the services remain.
func (s Scope) arnsOf(known typedAction) []string { return s.filled(known.ARNs) }

// filled fills templates, which spaces separate.
func (s Scope) filled(text string) []string {
	var out []string
	templates := strings.Fields(text)
	for _, template := range templates {
		if parts := strings.SplitAfterN(template, ":", 6); len(templates) > manyResources {
			template = strings.Join(parts[:len(parts)-1], "") + "*"
		}
		first := nameOfResource.FindString(template)
		path := ""
		if strings.Contains(first, "WithPath") {
			path = strings.TrimPrefix(strings.Trim(s.RolePath, "/")+"/", "/")
		}
		out = append(out, placeholder.ReplaceAllStringFunc(template, func(part string) string {
			switch part {
			case "${Partition}":
				return s.partition()
			case "${Region}":
				return cmp.Or(s.Region, "*")
			case "${Account}":
				return cmp.Or(s.Account, "*")
			case first:
				first = ""
				return path + s.NamePrefix + "*"
			default:
				return "*"
			}
		}))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notices returns the gaps of the policy: rights without a limit, and rights that it does not have.
func (t *typeGrants) notices(names []string) []string {
	out := []string{fmt.Sprintf("the policy has the rights of %d resource types, as the schemas of %s list them", len(names), t.table.Source)}
	if t.scope.NamePrefix == "" {
		out = append(out, "without --name-prefix, no right to resources of --types is limited by their names")
	}
	for _, name := range slices.Sorted(maps.Keys(t.without)) {
		out = append(out, name+": the policy does not limit these to resources of the operator: "+strings.Join(t.without[name], ", "))
	}
	for _, reason := range slices.Sorted(maps.Keys(t.left)) {
		out = append(out, "left out, because "+reason+": "+strings.Join(t.left[reason], ", "))
	}
	return out
}
