// SPDX-License-Identifier: Apache-2.0

package kind

import "strings"

// Facts holds the properties of a kind, other than its calls, that other packages use; see docs/adr/0067-a-kind-is-its-folder.md.
type Facts struct {
	// ARN is the form of the ARNs of the resources. It has no service where no ARN identifies them.
	ARN ARNForm
	// Terraform is the resource type of Terraform. It is empty where Terraform has none.
	Terraform Terraform
	// Reach limits the accounts and regions of the objects that may refer to the resources.
	Reach Reach
	// Rights are the rights in IAM that the actions take.
	Rights Rights
	// EarlierKeys holds the answer of a kind that names KMS keys, and of keys, whose aliases may move.
	EarlierKeys EarlierKeys
	// RolesShown are the members of AWS's answers that name a role, each an IAM action and a path, by Judged or the reason why an adoption
	// does not judge the role. A resource that acts as a role brings the rights of the role along when it is adopted.
	RolesShown map[string][]string
	// Schemas are the resource schemas of CloudFormation.
	Schemas Schemas
	// Declarable is true where a capability may declare objects of the kind in dataServices.resources: it has no other field for them, and
	// they give no rights.
	Declarable bool
	// NotSettings are the members of AWS's answers that are no settings: identifiers, states, counters, and the settings of other resources.
	// An entry is an operation, or the path of a member; with "=" and a value it is a setting that has the value where no one set it, and with
	// "[]" a list with unread elements that are other resources. It never has settings that a manifest declares: an import finds these when
	// it reads them.
	//
	// An import reports every other member as a setting that the manifest does not declare, so that a member that AWS adds is reported until
	// a person finds that it is none. The contract suite of kinds notices entries that are no members of answers.
	NotSettings []string
	// OneValue are optional fields of the spec, by their names in Go separated by spaces, that rows of the contract suite declare with one
	// value or none, with the reason.
	OneValue map[string]string
	// Services are the facts about the services that the kind calls, which kinds of one folder share. `make generate` collects them.
	Services []ServiceFacts
}

// EarlierKeys reports whether data stays encrypted with the previous key when a resource gets another one. One of the members has the
// reason. Keys are not deleted while data needs them.
type EarlierKeys struct {
	Kept, NotKept string
}

// Reach is the scope where an identifier, or an ARN, means the same resource. Objects outside it must not refer to the resource.
type Reach int

// How far identifiers mean the same.
const (
	// WithinRegion: within one region of an account. A name that is used elsewhere is that of another resource.
	WithinRegion Reach = iota
	// WithinAccount: in all regions of an account.
	WithinAccount
	// Everywhere: in every account and region.
	Everywhere
)

// Schemas describes the CloudFormation types of the resources that a kind manages. A test compares the rights of the kind with them:
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
type Schemas struct {
	// Types are the names, such as AWS::S3::Bucket.
	Types []string
	// Unneeded are the actions that AWS's handlers of these types need and the kind does not, separated by spaces, with the reason. A
	// star stands for any letters.
	Unneeded map[string]string
	// Properties are decisions on properties of a type, separated by spaces, that no field of the kind says and that no import reports by
	// their name: "as NAME" for a property that is declared or reported by another name; any other text is the reason why it is neither.
	Properties map[string]map[string]string
	// Rewritten are decisions on properties that a field says and that AWS shows in another form than it was sent, by their paths in a
	// type, separated by spaces: InCatalog, or why nothing is written for it.
	Rewritten map[string]string
}

// Judged marks roles that kind.Roles judges before an adoption.
const Judged = "it is judged"

// Reasons why another form in AWS's answers causes no write.
const (
	InCatalog     = "emulator.Rewrites shows it in that form"
	LowerCaseOnly = "the field takes lower case only"
	SentLower     = "it is sent in lower case"
	KeyByID       = "the ID and the ARN of a key are the same: SameKMSKey"
)

// Reasons why rows declare a field with one value.
const (
	KeptFromCreation = "AWS keeps it from the creation on, and another value is refused"
	ByReference      = "AWS chooses the identifier: rows declare the references beside it, and tests of the kind two of the resources"
	AsItsTarget      = "it means the identifier of its target, of which rows declare two in the field beside it"
	OfTheDeletion    = "nothing but a deletion reads it"
	InItsOwnTest     = "a test of the kind changes it beside what it needs in AWS or in the cluster"
)

// Reasons why a property is neither declared nor reported.
const (
	IsParent    = "it names the resource that this one is a part of"
	IsInAnswer  = "AWS answers with all attributes by name, so that an import reports those that no field says"
	IsRequest   = "it is an instruction of one request and no setting"
	IsInput     = "it is a choice at the creation, which AWS shows by its result"
	IsAllocator = "it chooses an address range, which AWS shows as the range itself"
)

// ARNForm is the form of the ARNs that identify the resources of a kind:
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
type ARNForm struct {
	// Service is the third field of the ARN. Prefix begins the last field, and the rest of that field is the name.
	Service, Prefix string
	// Without are the characters that the name does not contain.
	Without string
	// Name returns the identity of the resource in the spec. If it is nil, the name is the identity.
	Name func(name, arn string) string
	// Untagged is true where the tagging API does not list the resources:
	// https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/supported-services.html
	Untagged bool
}

// Identify returns the identity in the spec of the resource that an ARN names, and false for an ARN of another form.
func (f ARNForm) Identify(arn string) (identity string, ok bool) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 || fields[0] != "arn" || fields[2] != f.Service {
		return "", false
	}
	name, ok := strings.CutPrefix(fields[5], f.Prefix)
	if !ok || name == "" || strings.ContainsAny(name, f.Without) {
		return "", false
	}
	if f.Name != nil {
		name = f.Name(name, arn)
	}
	return name, true
}

// Terraform describes the resource type of Terraform that corresponds to a kind:
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs
type Terraform struct {
	// Type is the name, such as aws_s3_bucket.
	Type string
	// Identity are the attributes that identify a resource, in the order of Export.Identity. The last one ends in OptionalIdentity
	// where not every resource has it.
	Identity []string
	// Parts are the beginnings of the names of the types that are settings of such a resource.
	Parts []string
}
