// SPDX-License-Identifier: Apache-2.0

package controller

// The operator's rights in a cluster. `make generate` writes config/rbac/role.yaml from them. A right is here because a request needs it.
// docs/rbac.md describes who binds each role, and rbac_test.go checks that no right is missing and none is left over. Rights to Secrets and
// to the lease are not for the whole cluster: they stand in config/rbac beside the generated file.
//
// Reads by the cache need list and watch; get is for objects that are also read past it. Objects are made by server-side apply, which needs
// patch, and create where they do not exist.

// Capabilities: their finalizer is patched, and one is read before something that it declared is deleted. They own the objects that they
// compile to; the admission plugin OwnerReferencesPermissionEnforcement requires update on finalizers of a client that sets
// blockOwnerDeletion.
// +kubebuilder:rbac:groups=nexus.ai,resources=nexuscapabilities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=nexus.ai,resources=nexuscapabilities/status,verbs=patch
// +kubebuilder:rbac:groups=nexus.ai,resources=nexuscapabilities/finalizers,verbs=update

// Requests for a plan are read one at a time, answered in their status, and deleted when they are old.
// +kubebuilder:rbac:groups=nexus.ai,resources=planrequests,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=nexus.ai,resources=planrequests/status,verbs=patch

// The rights to AWS resources are those of all kinds: config/crd/lists writes their markers into zz_generated.rbac.go.

// Security intents are read, and told whether they are known and valid.
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=securityintents,verbs=list;watch
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=securityintents/status,verbs=patch

// Bindings own policies. Those of a namespace are also made and removed, for capabilities; those of the
// cluster are an administrator's alone.
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=securityintentbindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=clustersecurityintentbindings,verbs=get;list;watch
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=securityintentbindings/status;clustersecurityintentbindings/status,verbs=patch
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=securityintentbindings/finalizers;clustersecurityintentbindings/finalizers,verbs=update

// Policies are derived from bindings, and own the engines' objects.
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=nimbuspolicies;clusternimbuspolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=nimbuspolicies/status;clusternimbuspolicies/status,verbs=patch
// +kubebuilder:rbac:groups=intent.security.nimbus.com,resources=nimbuspolicies/finalizers;clusternimbuspolicies/finalizers,verbs=update

// The engines' objects: made, kept as they are, and removed when an intent, a binding or an engine goes. Each engine that
// is not part of Kubernetes has its own role, so that a cluster without it need not grant the rights.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-kubearmor,groups=security.kubearmor.com,resources=kubearmorpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-kyverno,groups=kyverno.io,resources=policies;clusterpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-kyverno,groups=policies.kyverno.io,resources=validatingpolicies;mutatingpolicies;namespacedvalidatingpolicies;namespacedmutatingpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-istio,groups=security.istio.io,resources=authorizationpolicies;peerauthentications,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-cilium,groups=cilium.io,resources=ciliumnetworkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-cilium,groups=cilium.io,resources=ciliumclusterwidenetworkpolicies,verbs=list
// +kubebuilder:rbac:roleName=nexus-operator-eksautomode,groups=networking.k8s.aws,resources=applicationnetworkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:roleName=nexus-operator-eksautomode,groups=networking.k8s.aws,resources=clusternetworkpolicies,verbs=list
// +kubebuilder:rbac:groups=policy.networking.k8s.io,resources=adminnetworkpolicies;baselineadminnetworkpolicies;clusternetworkpolicies,verbs=list
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=get;list;watch;create;patch;delete

// The definitions of an engine show whether it is installed.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch

// A capability's workloads, and the namespace that it may make for them, with its quota.
// +kubebuilder:rbac:groups="",resources=services;configmaps;serviceaccounts;namespaces;resourcequotas,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get;list;watch;create;patch;delete

// The routes of a capability that uses the Gateway API, its Gateway, and the configuration of both for the AWS Load Balancer Controller.
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=gateways;httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=gatewayclasses,verbs=get
// +kubebuilder:rbac:groups=gateway.k8s.aws,resources=loadbalancerconfigurations;targetgroupconfigurations,verbs=get;list;watch;create;patch;delete

// The parameters of an IngressClass say which kinds of addresses its load balancers have.
// +kubebuilder:rbac:groups=elbv2.k8s.aws;eks.amazonaws.com,resources=ingressclassparams,verbs=get

// The agent of EKS Pod Identity, and the nodes that have it built in, show whether pods get credentials.
// +kubebuilder:rbac:groups=apps,resources=daemonsets,resourceNames=eks-pod-identity-agent,verbs=get
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list

// DaemonSets show the engine that enforces NetworkPolicies and whether nodes cache DNS, EndpointSlices the addresses of the cluster's DNS.
// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=list
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list

// The webhooks of policy engines show whether these run, or only their kinds are left.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations;mutatingwebhookconfigurations,verbs=list

// The pods and the class of the load balancer show why a workload is not ready.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch

// A pod that started without AWS credentials is evicted, so that its Deployment starts another one.
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create

// The node of a pod that is not ready may be dead.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingressclasses,verbs=get;list;watch

// Events report the operator's actions; a patch counts repeated ones.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Who asks for metrics is authenticated and authorized by the API server.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The issuer of ServiceAccount tokens, which IAM roles trust. Most clusters let every ServiceAccount read
// it; some took that back.
// +kubebuilder:rbac:urls=/.well-known/openid-configuration,verbs=get
