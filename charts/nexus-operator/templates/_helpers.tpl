{{- define "nexus-operator.selector" -}}
app.kubernetes.io/name: nexus-operator
app.kubernetes.io/component: operator
{{- end }}

{{- define "nexus-operator.labels" -}}
{{ include "nexus-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "nexus-operator.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The objects of generated files, as {objects: [...]}: those of .glob, in the release's namespace. */}}
{{- define "nexus-operator.objects" -}}
{{- $root := .root }}
{{- $objects := list }}
{{- range $path, $_ := $root.Files.Glob .glob }}
{{- $text := $root.Files.Get $path | replace "system:serviceaccount:nexus-system:" (printf "system:serviceaccount:%s:" $root.Release.Namespace) }}
{{- range $document := splitList "\n---\n" $text }}
{{- $object := fromYaml $document }}
{{- if hasKey $object "Error" }}{{ fail (printf "%s: %s" $path $object.Error) }}{{ end }}
{{- if hasKey $object "kind" }}
{{- if hasKey $object.metadata "namespace" }}{{ $_ := set $object.metadata "namespace" $root.Release.Namespace }}{{ end }}
{{- range dig "subjects" list $object }}{{ $_ := set . "namespace" $root.Release.Namespace }}{{ end }}
{{- $labels := dig "labels" dict $object.metadata }}
{{- $_ := set $object.metadata "labels" (set $labels "app.kubernetes.io/name" "nexus-operator") }}
{{- $objects = append $objects $object }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml (dict "objects" $objects) }}
{{- end }}

{{/* The operator's flags by name. Values that are null, empty text, an empty list or an empty map set no flag. */}}
{{- define "nexus-operator.flags" -}}
region: {{ .Values.aws.region | toJson }}
additional-regions: {{ .Values.aws.additionalRegions | toJson }}
eks-cluster-name: {{ .Values.aws.eksClusterName | toJson }}
cluster-id: {{ .Values.aws.clusterID | toJson }}
previous-cluster-ids: {{ .Values.aws.previousClusterIDs | toJson }}
shared-namespaces: {{ .Values.aws.sharedNamespaces | toJson }}
foreign-resources: {{ .Values.aws.foreignResources | toJson }}
types: {{ .Values.aws.types | toJson }}
aws-rates: {{ .Values.aws.rates | toJson }}
capability-namespaces: {{ .Values.tenants.capabilityNamespaces | toJson }}
ambient-namespaces: {{ .Values.tenants.ambientNamespaces | toJson }}
workload-namespaces: {{ .Values.tenants.workloadNamespaces | toJson }}
workload-namespace-quota: {{ .Values.tenants.workloadNamespaceQuota | toJson }}
default-permissions-boundary: {{ .Values.tenants.defaultPermissionsBoundary | toJson }}
allowed-endpoints: {{ .Values.tenants.allowedEndpoints | toJson }}
allowed-ingress-groups: {{ .Values.tenants.allowedIngressGroups | toJson }}
allowed-external-arns: {{ .Values.tenants.allowedExternalARNs | toJson }}
plan-gate: {{ .Values.tenants.planGate | toJson }}
allow-custom-external-id: {{ ternary true nil .Values.tenants.allowCustomExternalID | toJson }}
tls-assessor-image: {{ .Values.intents.tlsAssessorImage | toJson }}
virtual-patches: {{ .Values.intents.virtualPatches | toJson }}
cluster-dns-service: {{ .Values.intents.clusterDNSService | toJson }}
cluster-dns-ports: {{ .Values.intents.clusterDNSPorts | toJson }}
network-policy-enforcer: {{ .Values.intents.networkPolicyEnforcer | toJson }}
mesh-root-namespace: {{ .Values.intents.meshRootNamespace | toJson }}
mesh-trust-domain: {{ .Values.intents.meshTrustDomain | toJson }}
shard: {{ ternary (printf "$(POD_INDEX)/%d" (int .Values.sharding.count)) nil (gt (int .Values.sharding.count) 1) | toJson }}
plan-requests: {{ ternary nil "false" .Values.planRequests.enabled | toJson }}
kinds: {{ .Values.reconcile.kinds | toJson }}
workers: {{ .Values.reconcile.workers | toJson }}
kind-workers: {{ .Values.reconcile.kindWorkers | toJson }}
check-interval: {{ .Values.reconcile.checkInterval | toJson }}
kind-check-interval: {{ .Values.reconcile.kindCheckInterval | toJson }}
drift-events-queue: {{ .Values.reconcile.driftEventsQueue | toJson }}
check-interval-with-events: {{ .Values.reconcile.checkIntervalWithEvents | toJson }}
stalled-interval: {{ .Values.reconcile.stalledInterval | toJson }}
deletion-grace: {{ .Values.reconcile.deletionGrace | toJson }}
production-deletion-grace: {{ .Values.reconcile.productionDeletionGrace | toJson }}
retry-first: {{ .Values.reconcile.retryFirst | toJson }}
retry-most: {{ .Values.reconcile.retryMost | toJson }}
kube-api-qps: {{ .Values.kubeAPI.qps | toJson }}
leader-elect: {{ ternary nil "false" .Values.leaderElection.enabled | toJson }}
leader-elect-lease-duration: {{ .Values.leaderElection.leaseDuration | toJson }}
log-level: {{ .Values.log.level | toJson }}
log-format: {{ .Values.log.format | toJson }}
trace-endpoint: {{ .Values.tracing.endpoint | toJson }}
trace-sample-ratio: {{ .Values.tracing.sampleRatio | toJson }}
health-probe-bind-address: {{ printf ":%v" .Values.health.port | toJson }}
metrics-bind-address: {{ ternary (printf ":%v" .Values.metrics.port) "0" .Values.metrics.enabled | toJson }}
metrics-secure: {{ ternary nil "false" .Values.metrics.secure | toJson }}
{{- end }}

{{/* A scalar as text; numbers without exponents, which the flags do not parse. */}}
{{- define "nexus-operator.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end }}
{{- end }}

{{- define "nexus-operator.args" -}}
{{- $args := list (printf "--adapters=%s" (join "," .Values.intents.adapters)) }}
{{- range $flag, $value := include "nexus-operator.flags" . | fromYaml }}
{{- if kindIs "slice" $value }}
{{- if $value }}{{ $args = append $args (printf "--%s=%s" $flag (join "," $value)) }}{{ end }}
{{- else if kindIs "map" $value }}
{{- $pairs := list }}
{{- range $key, $each := $value }}{{ $pairs = append $pairs (printf "%s=%s" $key (include "nexus-operator.text" $each)) }}{{ end }}
{{- if $pairs }}{{ $args = append $args (printf "--%s=%s" $flag (join "," $pairs)) }}{{ end }}
{{- else if not (or (kindIs "invalid" $value) (eq (toString $value) "")) }}
{{- $args = append $args (printf "--%s=%s" $flag (include "nexus-operator.text" $value)) }}
{{- end }}
{{- end }}
{{- toYaml (concat $args .Values.extraArgs) }}
{{- end }}
