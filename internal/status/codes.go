// SPDX-License-Identifier: Apache-2.0

package status

import (
	"regexp"
	"strings"
)

// Code is a stable error code: a failure, or a state that needs a person, with its cause and remedy.
type Code struct {
	// ID is NX-<area>-<number>. It is never reused or renumbered.
	ID string `json:"code"`
	// Reason is the reason of the conditions and events that carry the code. An error of nexusctl has a name here that is
	// no reason of a condition.
	Reason string `json:"reason"`
	// Cause and Remedy are sentences in Markdown.
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
}

// Area is a group of codes.
type Area struct {
	ID, Title string
}

// Areas returns the groups of codes in the order of the documentation.
func Areas() []Area {
	return []Area{
		{"IAM", "Identities, rights and providers"},
		{"AWS", "Calls to AWS"},
		{"SPEC", "The declaration"},
		{"DATA", "Data, deletion and secrets"},
		{"K8S", "Workloads"},
		{"NET", "Traffic"},
		{"SEC", "Security intents"},
		{"OP", "The operator"},
		{"CLI", "nexusctl"},
	}
}

// Area returns the middle part of the code's ID.
func (c Code) Area() string {
	_, rest, _ := strings.Cut(c.ID, "-")
	area, _, _ := strings.Cut(rest, "-")
	return area
}

// Codes of errors of nexusctl that no reason of a condition describes.
const (
	CodeUsage        = "NX-CLI-001"
	CodePrecondition = "NX-CLI-002"
	CodeForbidden    = "NX-CLI-003"
	CodeUnauthorized = "NX-CLI-004"
	CodeNoAPIServer  = "NX-CLI-005"
	CodeTimeout      = "NX-CLI-006"
	CodeFailed       = "NX-CLI-007"
)

// Codes returns every stable error code, ordered by area and number. docs/errors.md is generated from it.
func Codes() []Code { return codes[:] }

// codes is the table of error codes. A new row takes the next number of its area; an issued row stays, because people and
// alerts rely on it. The reasons in quotes are those of claims, in internal/intent, which imports this package.
var codes = [...]Code{
	{"NX-IAM-001", ReasonAccessDenied, "The identity may not make the call.",
		"Allow the action that the message names to the principal that it names, or remove the deny that it names. `nexusctl iam policy operator` prints all that the operator needs."},
	{"NX-IAM-002", ReasonNotPermitted, "The limits that the administrator set forbid it to this object.",
		"Ask the administrator about the limit that the message names: a flag of the operator such as `--workload-namespaces`, an AWSProvider that the namespace must have, or a permissions boundary, which the operator does not remove from a role."},
	{"NX-IAM-003", ReasonCredentialsMissing,
		"The Secret or a key in it is missing or may not be read, or the operator, or you as the user of nexusctl, have no AWS identity.",
		"Create the Secret or the key, or bind the operator's ClusterRole in the namespace as the message says. For nexusctl, name a profile with `--profile` or set the AWS variables."},
	{"NX-IAM-004", ReasonCredentialsInvalid,
		"AWS does not accept the credentials: the keys are wrong, deactivated or expired, or AWS refuses the role of the operator, or your sign-in as the user of nexusctl.",
		"Put valid keys into the Secret that the AWSProvider names. Without a Secret: correct the trust policy of the operator's role as the message says, or sign in again."},
	{"NX-IAM-005", ReasonRoleNotAssumable, "The identity may not assume the role; the operator never falls back to that identity.",
		"Add the statement in the message to the role's trust policy."},
	{"NX-IAM-006", ReasonAccountNotAllowed, "The credentials belong to an account that `allowedAccountIDs` does not list.",
		"Use credentials of a listed account, or add the account to `allowedAccountIDs` of the AWSProvider."},
	{"NX-IAM-007", ReasonEndpointNotAllowed,
		"`--allowed-endpoints` does not match, or the endpoint would get credentials in the clear or the operator's own.",
		"Ask the administrator to allow the endpoint, use https, or give the provider credentials."},
	{"NX-IAM-008", ReasonExternalIDNotAllowed, "`externalID` is not the one derived for this provider.",
		"Put `status.externalID` into the role's trust policy, or ask for `--allow-custom-external-id`."},
	{"NX-IAM-009", ReasonAmbientNotAllowed,
		"The provider has no credentials, or was generated for a capability without `spec.providerRef`, and its namespace may not use the operator's own identity.",
		"Set `credentialsSecret`, or `spec.providerRef` of the capability, or have an administrator set the flag, or the value of the Helm chart, that the message names."},
	{"NX-IAM-010", ReasonIssuerUnknown,
		"The operator does not know the cluster's OIDC issuer, or AWS cannot reach the one that the API server names.",
		"Let the API server answer `/.well-known/openid-configuration` to the operator; on EKS, start the operator with `--eks-cluster-name` (`EKS_CLUSTER_NAME`) and allow it `eks:DescribeCluster`."},
	{"NX-IAM-011", ReasonOIDCProviderMissing,
		"The provider's account has no IAM OIDC provider for the cluster's issuer, so pods get no credentials.",
		"Run the command in the message, or `eksctl utils associate-iam-oidc-provider`."},
	{"NX-IAM-012", ReasonOIDCAudienceMissing, "The IAM OIDC provider of the issuer does not accept the audience `sts.amazonaws.com`.",
		"Run the command in the message."},
	{"NX-IAM-013", ReasonCredentialsNotInPods,
		"Running pods have neither a role and token from the EKS pod identity webhook nor the EKS Pod Identity agent's address.",
		"Outside of EKS, install the Amazon EKS Pod Identity Webhook; on EKS it runs already. Pods get credentials when they start: then run `kubectl rollout restart deployment -n NAMESPACE`."},
	{"NX-IAM-014", ReasonProviderMissing, "The AWSProvider that the object names does not exist in its namespace.",
		"Create the AWSProvider, or correct `spec.providerRef`."},
	{"NX-IAM-015", ReasonProviderNotReady, "The AWSProvider that the object names exists and is not ready.",
		"Correct what the message names; `nexusctl explain awsprovider/NAME -n NAMESPACE` shows the cause and the commands that help."},
	{"NX-IAM-016", ReasonProviderDeleting, "The provider is being deleted: it still serves what exists, and creates nothing.",
		"Point `spec.providerRef` to another provider, or delete the object."},
	{"NX-IAM-017", ReasonProviderMoved, "The provider leads to another account or region than the one the resource lives in.",
		"Point `spec.providerRef`, or the AWSProvider, back to where the resource is. AWS moves no resource: for a new one elsewhere, delete the object with `deletionPolicy: Retain`, which keeps the old one, and create the object again."},
	{"NX-IAM-018", ReasonPodIdentityAgentMissing,
		"The DaemonSet `kube-system/eks-pod-identity-agent` does not exist or has no ready pods, so pods get no credentials by `identity.mode: PodIdentity`.",
		"Install the add-on with the command in the message, repair its pods, or set `identity.mode: IRSA`."},
	{"NX-AWS-001", ReasonThrottled,
		"AWS throttles calls, or calls wait for the operator's own rate limit, which keeps within the AWS quota; the message then says \"paced by the … quota\" and how many calls or parameters are left.",
		"Wait. If AWS throttles for long, ask AWS for a higher quota, or lower `--aws-rates`. If calls are paced for long, raise the quota (for `SSM`: turn on higher throughput of Parameter Store and allow `ssm:GetServiceSetting` to the provider's identity) and `--aws-rates`."},
	{"NX-AWS-002", ReasonUnreachable, "AWS does not answer: the network, DNS, TLS, or a proxy in between fails.",
		"Check DNS, proxy, VPC endpoints and NetworkPolicies between the operator and the endpoint that the message names, and whether the endpoint and the region are right. The operator tries again."},
	{"NX-AWS-003", ReasonRetrying, "AWS or the API server failed in a way that usually passes.",
		"Wait: the operator tries again. If it lasts longer than ten minutes, the object is Stalled: act on the words of AWS or the API server in the message, and see the AWS Health Dashboard."},
	{"NX-AWS-004", ReasonLimitExceeded, "A quota is exhausted, and waiting does not help.",
		"Remove what is not needed, or ask for a higher quota in Service Quotas. Then ask for a check: `nexusctl reconcile KIND/NAME -n NAMESPACE`."},
	{"NX-AWS-005", ReasonRefusedByAWS, "AWS says that the request can never succeed as it is.",
		"Read the words of AWS in the message and correct the spec."},
	{"NX-AWS-006", ReasonOwnershipUnknown,
		"The AWS resource carries no owner tags although it is on record as this object's; AWS may show tags late, so the operator looks again first.",
		"If it lasts, restore the tags that the message names, or set `deletionPolicy: Retain` and delete the object."},
	{"NX-AWS-007", ReasonIdentityChanged, "A name or a reference leads to another AWS resource than the recorded one.",
		"Restore what the spec or the referenced object named before, or delete the object and create another."},
	{"NX-AWS-008", ReasonNotSettling, "AWS acknowledged several writes of a field and keeps showing another value.",
		"Look for another writer of the resource, or declare the value that AWS shows; an AWSResource can leave the property alone with `spec.ignore`. The value is not written again until one of both changes, or until a check is requested with `nexusctl reconcile`."},
	{"NX-AWS-009", ReasonDuplicateResources,
		"More than one AWS resource carries the owner tags of the object, because AWS did not show a create whose answer was lost.",
		"Delete the resources that the message names, unless something uses them; deleting the object deletes them too."},
	{"NX-AWS-010", ReasonDrift, "AWS differs from what is declared and `driftPolicy` is `Report`.",
		"Read `status.drift`; declare what is there, or set `driftPolicy: Correct`."},
	{"NX-AWS-011", ReasonNotFoundInAWS,
		"AWS does not find something that the object names by its identifier, name or ARN, such as the VPC of a subnet.",
		"Correct the field, or create what it names: the operator tries again. If it lasts longer than ten minutes, the object is Stalled."},
	{"NX-AWS-012", ReasonChangedOutside,
		"CloudTrail reported a change of an AWS resource, and the check that followed found the resource different from what is declared.",
		"The message names the principal, the time and the event: find the event with `aws cloudtrail lookup-events`, and change the object instead of the resource, or take the right to change it from the principal. With `driftPolicy: Correct` the resource is set back."},
	{"NX-AWS-013", ReasonQueueUnusable, "The queue with the events of changes cannot be read, so that changes are found by periodic checks.",
		"Allow `sqs:ReceiveMessage` and `sqs:DeleteMessage` on the queue to the principal that the message names, or correct the URL of the queue."},
	{"NX-AWS-014", ReasonNoHeartbeat,
		"No event of the schedule in EventBridge has arrived for some minutes, so that changes are found by periodic checks.",
		"See whether both rules are enabled, whether they have the queue as their target, and whether the queue policy allows them to send to it."},
	{"NX-AWS-015", ReasonQueueShared, "Another reader reads the queue already, and a message reaches one of them only.",
		"Make a separate queue for each AWSProvider, and name it in `spec.driftEvents.queueURL`."},
	{"NX-SPEC-001", ReasonInvalidSpec, "A field has a value that cannot work, for a cause that admission could not see.",
		"Correct the field that the message names."},
	{"NX-SPEC-002", ReasonImmutable, "AWS cannot change the field in place.",
		"Declare what exists. For another value, delete the object and create another: unless `deletionPolicy` is `Retain`, this deletes the resource with its data."},
	{"NX-SPEC-003", ReasonNameTaken, "The name belongs to another account, or to this account in another region.",
		"Choose another name."},
	{"NX-SPEC-004", ReasonNameConflict,
		"Another capability of the same `capabilityName` and `environment` runs, or is older; or `spec.path` of an SSMParameterSet leads below the parameter path of a capability of another namespace. The operator's log names that capability.",
		"Choose another `capabilityName` or `environment`, or another path."},
	{"NX-SPEC-005", ReasonConflict, "Something of this name exists and has another owner, or the object was restored from another cluster.",
		"Choose another name, or name the earlier cluster in `--previous-cluster-ids`. To manage an AWS resource that no other object owns, import it: `nexusctl import KIND/NAME --adopt` prints the manifest, and `adoptableKinds` of the AWSProvider must name the kind."},
	{"NX-DATA-001", ReasonMissing, "A store that existed is gone, and its data with it.",
		"Restore it under the same name, or set `recreateOnLoss: true` to have it created again, empty."},
	{"NX-DATA-002", ReasonDataWouldBeLost,
		"An edit, or the deletion of a generated object, would delete a store that holds data; or a key is to be deleted that other objects, or what they left in AWS, need.",
		"Declare the store again, set `deletionPolicy: Retain`, or list the store's name in annotation `nexus.ai/delete-data` of the capability, or of the key."},
	{"NX-DATA-003", ReasonOwnedByCapability, "The object of a store is deleted by hand while its capability declares the store.",
		"No action is needed: the operator keeps the store and creates the object again. To delete the store, edit the capability; to have it empty, set annotation `nexus.ai/delete-data: <name>` on the object."},
	{"NX-DATA-004", ReasonStoreKept,
		"The object of a store that the capability declares was deleted; the store is kept and the object created again.",
		"To delete the store, edit the capability; else do nothing."},
	{"NX-DATA-005", ReasonBucketNotEmpty,
		"The bucket to be deleted holds objects, or versions under object lock, which `forceDestroy` does not delete.",
		"Empty the bucket, set `forceDestroy: true`, wait for the end of the locks, or set `deletionPolicy: Retain`."},
	{"NX-DATA-006", ReasonDatabaseNotEmpty,
		"The Glue database to be deleted contains tables, which AWS would delete with it; GlueTable objects that are being deleted delete theirs first.",
		"Delete the tables, or set `deletionPolicy: Retain`."},
	{"NX-DATA-007", ReasonQueueNotEmpty, "The SQS queue to be deleted holds messages; SQS counts them approximately.",
		"Receive or purge them, set `forceDestroy: true`, or set `deletionPolicy: Retain`."},
	{"NX-DATA-008", ReasonRepositoryNotEmpty, "The ECR repository to be deleted holds images.",
		"Delete them, set `forceDelete: true`, or set `deletionPolicy: Retain`."},
	{"NX-DATA-009", ReasonHostedZoneNotEmpty, "The Route 53 hosted zone to be deleted holds record sets beside its NS and SOA records.",
		"Delete them, or set `deletionPolicy: Retain`."},
	{"NX-DATA-010", ReasonDeletionProtected, "Deletion protection is on.",
		"Set `deletionProtection: false` (of an EC2Instance `disableApiTermination: false`), switch the protection off in AWS where the kind has no such field, or set `deletionPolicy: Retain`."},
	{"NX-DATA-011", ReasonInUse, "Something still uses what is to be deleted, such as the subnets of a VPC or the functions of a role.",
		"Delete or detach what the message names or counts."},
	{"NX-DATA-012", ReasonAbandoned,
		"The operator removed an object without its resource in AWS, because the annotation `nexus.ai/abandon` holds its UID; or a binding is gone and left its policy behind. The message names what is left.",
		"Delete by hand what is left, unless it is to stay."},
	{"NX-DATA-013", ReasonPlaceholdersEmpty, "The named secrets wait for people to fill them in.",
		"Run `nexusctl secrets set awssecret/NAME -n NAMESPACE --from-file KEY=-`, put the values into Secrets Manager, or name a Secret in `spec.secrets[].valueFrom`. `nexusctl secrets status -n NAMESPACE` lists the empty keys."},
	{"NX-K8S-001", ReasonImagePull, "An image cannot be pulled.",
		"Push the image, correct its name, or give the nodes or `imagePullSecrets` the right to pull it. `kubectl describe pod -n NAMESPACE` shows the answer of the registry."},
	{"NX-K8S-002", ReasonImageRunsAsRoot, "An image runs as root, which Pod Security *restricted* forbids.",
		"Give the image a numeric `USER` other than 0, such as `USER 10001` in its Dockerfile, and push it."},
	{"NX-K8S-003", ReasonImageUserNotNumeric, "An image names its user, so Kubernetes cannot see whether it is root.",
		"Give the image a numeric `USER` other than 0, such as `USER 10001` in its Dockerfile, and push it."},
	{"NX-K8S-004", ReasonCrashLoop, "A container starts and ends again and again.",
		"Read its last words with `kubectl logs -n NAMESPACE POD --previous`, and correct the image, its configuration, or its memory limit."},
	{"NX-K8S-005", ReasonProbeFailing, "A container runs and does not pass its readiness probe.",
		"Check the path and the port of the probe in the spec, and with `kubectl logs -n NAMESPACE POD` why the container does not answer."},
	{"NX-K8S-006", ReasonPodsRefused, "The cluster refuses to make the pods: a quota, or an admission rule.",
		"Read the message; raise the quota or meet the rule."},
	{"NX-K8S-007", ReasonUnschedulable, "No node has room for a pod, or none matches.",
		"Add nodes, lower requests, check selectors and taints."},
	{"NX-K8S-008", ReasonAutoscalerInactive,
		"A HorizontalPodAutoscaler does not scale, for example because the cluster has no metrics. The pods go on serving.",
		"Install the Kubernetes Metrics Server, or correct what `kubectl describe hpa -n NAMESPACE` names."},
	{"NX-K8S-009", ReasonNodeNotReady,
		"The node of pods that are not ready does not answer. After five minutes Kubernetes starts them on another node, if one has room.",
		"Read `kubectl describe node` of the node that the message names; repair it, or delete the Node if the machine is gone."},
	{"NX-K8S-010", ReasonWebhookFailing, "A webhook of another controller does not answer, so the API server refuses what it would judge.",
		"Repair the controller whose webhook and Service the message names; where it was removed, delete its ValidatingWebhookConfiguration or MutatingWebhookConfiguration."},
	{"NX-K8S-011", ReasonJobFailed, "A run of a Job or a CronJob failed.",
		"Read the log of the pod that the message names, and correct the image, its command or its configuration. An edit of the component runs a Job again, and `kubectl delete job -n NAMESPACE NAME` runs it again as it is; a CronJob runs again at the next time of its schedule."},
	{"NX-NET-001", ReasonIngressClassMissing, "There is no IngressClass `alb`, so no controller creates a load balancer.",
		"Install the AWS Load Balancer Controller (`nexusctl install-alb-controller`); on EKS Auto Mode, which creates load balancers, create an IngressClass `alb` with controller `eks.amazonaws.com/alb`. Or set `ingress.enabled: false`."},
	{"NX-NET-002", ReasonControllerMissing, "A Service of type LoadBalancer has no address, and there is no IngressClass `alb`.",
		"Install the AWS Load Balancer Controller (`nexusctl install-alb-controller`), or set `service.type: ClusterIP`."},
	{"NX-NET-003", ReasonIngressControllerGone,
		"The load balancer controller was removed before the Ingress, whose finalizer only that controller removes.",
		"Install the controller again (`nexusctl install-alb-controller`) until the Ingress is gone."},
	{"NX-NET-004", ReasonEgressToAWSBlocked,
		"An intent of `spec.security` closes the backend's way to AWS, without which the backend cannot work.",
		"Set the parameter that the message names: `awsCIDRs` to the networks at which the backend reaches AWS, such as those of VPC endpoints or prefix lists, or `[0.0.0.0/0]`; of allowEgressToNames `names` to the endpoints of AWS. Or set `otherEgress: [allow]` (dnsManipulation), or bind the intent to `component: frontend`."},
	{"NX-NET-005", ReasonGatewayAPIMissing, "The cluster lacks a kind of the Gateway API that `spec.ingress.gateway` needs.",
		"Install the definitions that the message names, or remove `spec.ingress.gateway`. The capability goes on within a minute."},
	{"NX-NET-006", ReasonGatewayMissing, "The Gateway or GatewayClass that `spec.ingress.gateway` names does not exist.",
		"Create it, or correct the name."},
	{"NX-NET-007", ReasonGatewayNotAccepted, "The controller of the Gateway does not accept the Gateway or the route.",
		"Read what it says in the message; the listeners of an existing Gateway must admit routes from the namespace, with the host."},
	{"NX-NET-008", ReasonLoadBalancerBlocked, "An intent of `spec.security` closes a component to the load balancer of AWS that leads to it.",
		"Set what the message names: `ingress.gateway` with a Gateway whose proxies are pods, in one of the intent's `fromNamespaces` (networkSegmentation), `exceptPorts` (ensureTLS) or `allowCIDRs` (denyExternalNetworkAccess). Or take the intent out of `spec.security`, or set `ingress.enabled: false` and `service.type: ClusterIP`."},
	{"NX-SEC-001", ReasonNotEnforced, "No engine does what an intent asks.",
		"Read `status.coverage`, then install an engine, or correct what the reason of an engine names."},
	{"NX-SEC-002", ReasonIntentMissing, "A bound SecurityIntent does not exist yet.",
		"Create the SecurityIntent, or take its name out of the binding."},
	{"NX-SEC-003", ReasonDuplicateIntent, "Two bound intents have the same id; the strictest action and parameters of the valid ones count.",
		"Unbind one of the intents that the message names."},
	{"NX-SEC-004", "UnknownIntent", "The id of the intent is not in the catalog.",
		"Correct `spec.intent.id`."},
	{"NX-SEC-005", "InvalidParams", "A parameter of the intent does not match the catalog.",
		"Correct the parameter that the message names."},
	{"NX-SEC-006", "SelectorUnsupported", "A selector cannot be translated, or the engine cannot express it.",
		"Use `matchLabels`, or the forms of CEL that docs/intents.md lists."},
	{"NX-SEC-007", "NodeSelectorUnsupported", "No engine honors a node selector.",
		"Remove `selector.nodeSelector`."},
	{"NX-SEC-008", "NamespaceMissing", "A namespace that a cluster binding names does not exist, or it selects none.",
		"Create the namespace, or correct `nsSelector` of the binding."},
	{"NX-SEC-009", "NotCovered", "The engine has no means for the intent; another engine may have.",
		"No action is needed if another engine enforces the intent; else install one that does."},
	{"NX-SEC-010", "EngineMissing", "The engine's kinds are not installed.",
		"Install the engine; the operator notices it automatically."},
	{"NX-SEC-011", "EngineDisabled", "The operator's `--adapters` leaves the engine out.",
		"Name the engine in `--adapters`."},
	{"NX-SEC-012", "EngineVersionUnsupported", "The engine is installed in a version that the operator cannot speak to.",
		"Install the version that the message names."},
	{"NX-SEC-013", "AuditUnsupported", "The engine can only block, and the intent asks for an audit.",
		"Use another engine, or `Block`."},
	{"NX-SEC-014", "ReportsOnly", "The engine can only report, and the intent asks to block.",
		"Set `action: Audit`."},
	{"NX-SEC-015", "OnCreateOnly", "Only pods that are created from now on are changed.",
		"Restart the pods: `kubectl rollout restart deployment/NAME -n NAMESPACE`."},
	{"NX-SEC-016", "AlreadyIsolated",
		"A policy with another owner restricts that direction already, and a policy of the operator would open what it closes.",
		"Put what the intent says into that policy, or remove it."},
	{"NX-SEC-017", "Overlaps", "The live object of another intent still allows on some of these pods what this intent closes.",
		"Wait: the operator writes that object next; if the reason stays, look at the conditions of the binding that the message names."},
	{"NX-SEC-018", "NotLive", "An object on which the enforcement depends does not exist as written.",
		"Wait a minute: the operator writes the object again. If the reason stays, a webhook or another tool changes or deletes it; `kubectl get KIND/NAME -n NAMESPACE -o yaml --show-managed-fields` names who wrote last."},
	{"NX-SEC-019", "NotInMesh", "The namespace is not part of the service mesh.",
		"Label the namespace, so that Istio injects its proxies (`kubectl label namespace NAMESPACE istio-injection=enabled`), and restart its pods."},
	{"NX-SEC-020", "MeshRootNamespace", "In the mesh's root namespace the object would apply to the whole mesh.",
		"Bind the intent in another namespace."},
	{"NX-SEC-021", "CatalogMissing", "The operator has no catalog of virtual patches.",
		"An administrator sets `--virtual-patches` and creates the ConfigMap."},
	{"NX-SEC-022", "CatalogInvalid", "The catalog of virtual patches has a mistake, so the operator uses none of it.",
		"Correct the entry and field that the message names."},
	{"NX-SEC-023", "UnknownCVE", "The catalog of virtual patches has no mitigation for a CVE.",
		"Add a mitigation to the catalog, or patch the image."},
	{"NX-SEC-024", "ImageMissing", "The operator has no container image that assesses TLS.",
		"An administrator sets `--tls-assessor-image`."},
	{"NX-SEC-025", "NoTargets", "`external_addresses` is empty, and no Service selects bound pods only.",
		"Add an address, or bind the intent by labels that a Service selects."},
	{"NX-SEC-026", "TooManyTargets", "Only the first 32 targets are assessed.",
		"Divide the targets among several bindings."},
	{"NX-SEC-027", "AssessmentFailed", "The pod of the last assessment failed or cannot start.",
		"Correct the cause that the message, or `kubectl describe pod` and `kubectl logs` of the job's pod in the namespace of the binding, name, or `--tls-assessor-image`."},
	{"NX-SEC-028", "ResultInvalid", "The last assessment left something that is not a result.",
		"Use a `--tls-assessor-image` that keeps to the format of docs/intents.md."},
	{"NX-SEC-029", "ResultOutdated", "The last results are older than two intervals of the schedule.",
		"Find out with `kubectl describe cronjob -n NAMESPACE` why no assessment runs, such as a quota or a CronJob that is suspended."},
	{"NX-SEC-030", "DNSNotFound", "The cluster's DNS cannot be located, so that the intent may close DNS for the pods.",
		"Set `--cluster-dns-service`, or name the addresses of the DNS in `params.dnsPeers`."},
	{"NX-SEC-031", "NoEnforcer",
		"The operator knows no program that enforces the policies: no network plugin on some nodes or on all of them, or no part of the engine runs.",
		"Run the command that the message names, install a network plugin or the engine, or set `--network-policy-enforcer`."},
	{"NX-SEC-032", "EngineLimit", "The engine enforces the intent with a gap, which the message describes.",
		"Enforce by AppArmor on the nodes, as far as the gap is one of BPF-LSM, or close it by other means."},
	{"NX-SEC-033", "NodesNotCovered", "The engine runs on some of the nodes only.",
		"Have the bound pods run on the nodes that the message names."},
	{"NX-OP-001", ReasonInternal, "The operator was built or started wrongly, which is a defect.",
		"Report it at the project, with the message and the output of `kubectl logs -n nexus-system deployment/nexus-operator`. Until it is corrected, the previous version of the operator may help."},
	{"NX-OP-002", ReasonKindNotServed, "The operator was started with `--kinds`, which leaves out the kind that the message names.",
		"An administrator adds the kind to `--kinds`, in the chart `reconcile.kinds`; or remove what needs it from the declaration."},
	{CodeUsage, "UsageError", "The command line, or a manifest that it names, has a mistake.",
		"Correct the argument, flag or field that the message names; `--help` lists them."},
	{CodePrecondition, "PreconditionFailed",
		"Something that the command needs first is missing: a cluster, credentials, a tool, or an object.",
		"Provide what the message names, then run the command again. `nexusctl scan` checks the usual preconditions."},
	{CodeForbidden, "Forbidden", "The API server refuses a request, because the person who runs the command lacks a right.",
		"Ask the administrator for the verb on the resource that the message names; `kubectl auth can-i --list` lists the rights that you have."},
	{CodeUnauthorized, "Unauthorized", "The API server does not accept the credentials of the kubeconfig, or they have expired.",
		"Log in again. On EKS, run `nexusctl kubeconfig`."},
	{CodeNoAPIServer, "APIServerUnreachable", "The API server does not answer.",
		"Check `--context` and `--kubeconfig`, and the network, proxy and VPN between you and the cluster."},
	{CodeTimeout, "Timeout", "The command did not end within `--timeout`. The cluster and AWS stay as they are, and work in progress goes on.",
		"Look at the objects that the message names with `nexusctl explain`, or run the command again with a longer `--timeout`."},
	{CodeFailed, "CommandFailed", "The command failed, and no other code describes the failure.",
		"Act on the message, which has the words of the API server, of AWS or of the file system, and run the command again: what is done already stays done."},
}

// codeOf finds the ID of a code by reason.
var codeOf = func() map[string]string {
	out := map[string]string{}
	for _, c := range codes {
		out[c.Reason] = c.ID
	}
	return out
}()

// CodeOf returns the ID of the code of a reason; empty for a reason that means no failure.
func CodeOf(reason string) string { return codeOf[reason] }

// LookupCode finds a code by its ID, in upper or lower case.
func LookupCode(id string) (Code, bool) {
	for _, c := range codes {
		if strings.EqualFold(c.ID, id) {
			return c, true
		}
	}
	return Code{}, false
}

// atEnd matches the code at the end of a message.
var atEnd = regexp.MustCompile(` \((NX-[A-Z0-9]+-[0-9]{3})\)$`)

// SplitCode returns a message without the code at its end, and the code; empty when the message has none.
func SplitCode(message string) (text, code string) {
	at := atEnd.FindStringSubmatchIndex(message)
	if at == nil {
		return message, ""
	}
	return message[:at[0]], message[at[2]:at[3]]
}

// Extend returns a message with more text, which stands before the code at its end.
func Extend(message, more string) string {
	text, code := SplitCode(message)
	if code == "" {
		return text + more
	}
	return text + more + inParentheses(code)
}

func inParentheses(code string) string { return " (" + code + ")" }

// WithCode returns a message of at most limit bytes that ends with the code of its reason. A message that ends with a code keeps that one:
// it repeats the message of another object, and the code of that object names the cause. An empty message stays empty.
func WithCode(reason, message string, limit int) string {
	text, code := SplitCode(message)
	if code == "" {
		code = CodeOf(reason)
	}
	if code == "" || text == "" {
		return Truncate(message, limit)
	}
	suffix := inParentheses(code)
	return Truncate(text, limit-len(suffix)) + suffix
}
