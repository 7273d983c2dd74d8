// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GlueCrawlerSpec declares a crawler.
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.roleRef)",message="set exactly one of role and roleRef"
// +kubebuilder:validation:XValidation:rule="has(self.databaseName) != has(self.databaseRef)",message="set exactly one of databaseName and databaseRef"
type GlueCrawlerSpec struct {
	CommonSpec `json:",inline"`

	// CrawlerName, at most 255 characters. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="crawlerName is immutable"
	CrawlerName string `json:"crawlerName"`
	// Role is the name or ARN of the role that the crawler acts as. It must lie under the provider's rolePathPrefix,
	// and a provider with a permissionsBoundaryARN allows none: use roleRef instead.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Role string `json:"role,omitempty" names:"iam:role"`
	// RoleRef names the IAMRole object that the crawler acts as; one that only observes a role cannot be used.
	// +optional
	RoleRef *ObjectReference `json:"roleRef,omitempty"`
	// DatabaseName the crawler writes to.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	DatabaseName string `json:"databaseName,omitempty"`
	// DatabaseRef names the GlueDatabase object the crawler writes to.
	// +optional
	DatabaseRef *ObjectReference `json:"databaseRef,omitempty"`
	// S3Targets are the paths to crawl. Paths that others add are removed. Targets of other sorts stay.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	S3Targets []GlueS3Target `json:"s3Targets"`
	// Schedule is a cron expression, such as cron(15 12 * * ? *); "" means on demand.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Schedule *string `json:"schedule,omitempty"`
	// TablePrefix of the tables the crawler makes.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	TablePrefix *string `json:"tablePrefix,omitempty"`
	// Description of the crawler; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description *string `json:"description,omitempty"`
	// SchemaChangePolicy; default LOG for both, so that the crawler does not fight declared tables.
	// +optional
	SchemaChangePolicy *GlueSchemaChangePolicy `json:"schemaChangePolicy,omitempty"`
}

// GlueS3Target is a path to crawl.
type GlueS3Target struct {
	// Path, such as s3://bucket/prefix/.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2056
	Path string `json:"path"`
	// Exclusions are glob patterns left out.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Exclusions []string `json:"exclusions,omitempty"`
}

// GlueSchemaChangePolicy says what the crawler does when the data's schema changed.
type GlueSchemaChangePolicy struct {
	// UpdateBehavior on changed schemas.
	// +optional
	// +kubebuilder:validation:Enum=LOG;UPDATE_IN_DATABASE
	UpdateBehavior string `json:"updateBehavior,omitempty"`
	// DeleteBehavior on deleted objects.
	// +optional
	// +kubebuilder:validation:Enum=LOG;DELETE_FROM_DATABASE;DEPRECATE_IN_DATABASE
	DeleteBehavior string `json:"deleteBehavior,omitempty"`
}

// GlueCrawlerStatus reports the crawler.
type GlueCrawlerStatus struct {
	CommonStatus `json:",inline"`
	// State is READY, RUNNING or STOPPING.
	// +optional
	State string `json:"state,omitempty"`
}

// GlueCrawler is a Glue crawler.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=gluecr,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Crawler",type=string,JSONPath=`.spec.crawlerName`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type GlueCrawler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GlueCrawlerSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status GlueCrawlerStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *GlueCrawler) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *GlueCrawler) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// GlueCrawlerList is a list of GlueCrawler.
// +kubebuilder:object:root=true
type GlueCrawlerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GlueCrawler `json:"items"`
}
