// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CognitoUserPoolSpec declares a user pool with its app clients, its domain and its groups.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^[a-z0-9-]+_[0-9a-zA-Z]+$')",message="importID is the ID of a user pool, such as eu-west-1_AbCdEf123"
// +kubebuilder:validation:XValidation:rule="has(self.usernameAttributes) == has(oldSelf.usernameAttributes) && (!has(self.usernameAttributes) || self.usernameAttributes == oldSelf.usernameAttributes)",message="usernameAttributes is immutable: create another CognitoUserPool"
// +kubebuilder:validation:XValidation:rule="!has(self.domain) || !self.domain.contains('aws') && !self.domain.contains('amazon') && !self.domain.contains('cognito')",message="domain must not contain aws, amazon or cognito, which Cognito reserves"
type CognitoUserPoolSpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// PoolName is the name of the user pool: 1 to 128 letters, digits, spaces and the characters _ + = , . @ -. Names of user
	// pools are not unique in AWS; the operator finds its pool by ID and tags. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_ +=,.@-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="poolName is immutable"
	PoolName string `json:"poolName"`
	// UsernameAttributes are the attributes with which users sign in instead of a user name: email, phone_number or both.
	// Absent: not managed; Cognito creates pools whose users have user names. Immutable.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +listType=set
	UsernameAttributes []CognitoContact `json:"usernameAttributes,omitempty"`
	// AutoVerifiedAttributes are the attributes that Cognito verifies with a code when users sign up: email, phone_number
	// or both. Absent: not managed; an empty list clears it.
	// +optional
	// +kubebuilder:validation:MaxItems=2
	AutoVerifiedAttributes *[]CognitoContact `json:"autoVerifiedAttributes,omitempty"`
	// AdminCreateUserOnly true lets only administrators create users; false lets everybody sign up. Absent: not managed;
	// Cognito creates pools with false.
	// +optional
	AdminCreateUserOnly *bool `json:"adminCreateUserOnly,omitempty"`
	// PasswordPolicy says what passwords users may choose. Absent: not managed.
	// +optional
	PasswordPolicy *CognitoPasswordPolicy `json:"passwordPolicy,omitempty"`
	// MFA is whether users sign in with a code of an authenticator app (TOTP), too: OFF, OPTIONAL or ON. OPTIONAL and ON
	// permit authenticator apps; text messages and email that others configured stay permitted. Absent: not managed; Cognito
	// creates pools with OFF.
	// +optional
	// +kubebuilder:validation:Enum=OFF;OPTIONAL;ON
	MFA *string `json:"mfa,omitempty"`
	// DeletionProtection true makes Cognito refuse to delete the pool. With deletionPolicy Delete, an explicit false lifts
	// the protection for the deletion. Absent: not managed; Cognito creates pools without it.
	// +optional
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
	// Clients are the app clients of the pool. A client that is dropped from the list is deleted if the operator created it
	// or it was listed before. Clients of other names stay.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	Clients []CognitoUserPoolClient `json:"clients,omitempty"`
	// Domain is the prefix of the pool's sign-in domain, https://PREFIX.auth.REGION.amazoncognito.com: 1 to 63 lower-case
	// letters, digits and hyphens, without aws, amazon and cognito. Prefixes are unique in a region over all AWS accounts.
	// Another prefix replaces the domain: the old one is deleted first. Absent: not managed; "" deletes the domain.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$`
	Domain *string `json:"domain,omitempty"`
	// Groups are the groups of the pool. A group that is dropped from the list is deleted with its memberships if the
	// operator created it or it was listed before; the users stay. Groups of other names stay.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	Groups []CognitoUserPoolGroup `json:"groups,omitempty"`
	// RecreateOnLoss creates another pool, without users, when the pool was deleted outside the operator; the default is
	// to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// CognitoContact is an attribute by which a user can be reached.
// +kubebuilder:validation:Enum=email;phone_number
type CognitoContact string

// CognitoPasswordPolicy says what passwords users may choose. Absent fields are not managed; in a new pool they have the
// values that Cognito gives to pools without a policy.
type CognitoPasswordPolicy struct {
	// MinimumLength of a password, 6 to 99. New pools: 8.
	// +optional
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=99
	MinimumLength *int32 `json:"minimumLength,omitempty"`
	// RequireLowercase demands a lower-case letter. New pools: true.
	// +optional
	RequireLowercase *bool `json:"requireLowercase,omitempty"`
	// RequireUppercase demands an upper-case letter. New pools: true.
	// +optional
	RequireUppercase *bool `json:"requireUppercase,omitempty"`
	// RequireNumbers demands a digit. New pools: true.
	// +optional
	RequireNumbers *bool `json:"requireNumbers,omitempty"`
	// RequireSymbols demands a symbol. New pools: true.
	// +optional
	RequireSymbols *bool `json:"requireSymbols,omitempty"`
	// TemporaryPasswordValidityDays is the number of days for which a new user may sign in with the password that an administrator set,
	// 1 to 365. New pools: 7.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=365
	TemporaryPasswordValidityDays *int32 `json:"temporaryPasswordValidityDays,omitempty"`
}

// CognitoUserPoolClient is an app client: a public one, without a secret, that signs users in with the authorization code
// flow. Applications use it with PKCE. Settings that are not listed here stay as they are; a new client accepts the pool's
// own users, issues and revokes refresh tokens, and does not reveal what users exist.
type CognitoUserPoolClient struct {
	// Name is that of the client. Names of clients are not unique in AWS: of several clients of the name, the operator
	// takes the oldest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+=,.@-]( ?[A-Za-z0-9_+=,.@-])*$`
	Name string `json:"name"`
	// CallbackURLs lists the addresses to which Cognito may send users after they signed in.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	CallbackURLs []CognitoURL `json:"callbackURLs"`
	// LogoutURLs lists the addresses to which Cognito may send users after they signed out. Absent: not managed; an empty list clears it.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	LogoutURLs *[]CognitoURL `json:"logoutURLs,omitempty"`
	// Scopes lists the scopes that the client may ask for, such as openid, email and profile. Absent: these three.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	Scopes []CognitoScope `json:"scopes,omitempty"`
}

// CognitoURL is a URL of an application: HTTPS, http://localhost for tests, or the scheme of an app.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9+.-]*://[^\s#]+$`
// +kubebuilder:validation:XValidation:rule="!self.startsWith('http://') || self.matches('^http://localhost(:[0-9]+)?(/.*)?$')",message="a URL begins with https://, except for http://localhost"
type CognitoURL string

// CognitoScope is a scope of OAuth 2.0, such as openid or that of a resource server.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^[\x21\x23-\x5B\x5D-\x7E]+$`
type CognitoScope string

// CognitoUserPoolGroup is a group of users. The tokens of its members name it in the claim cognito:groups.
type CognitoUserPoolGroup struct {
	// Name of the group, unique in the pool.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+=,.@:/-]+$`
	Name string `json:"name"`
	// Description of the group. Absent: not managed; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description *string `json:"description,omitempty"`
	// Precedence orders the groups of a user, 0 first. Absent: not managed; AWS cannot clear it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Precedence *int32 `json:"precedence,omitempty"`
}

// CognitoUserPoolStatus reports the pool.
type CognitoUserPoolStatus struct {
	CommonStatus `json:",inline"`
	// UserPoolID repeats id.
	// +optional
	UserPoolID string `json:"userPoolID,omitempty"`
	// ClientIDs are the IDs of the declared app clients, by name. A public client has no other credential.
	// +optional
	// +kubebuilder:validation:MaxProperties=40
	ClientIDs map[string]string `json:"clientIDs,omitempty"`
	// Domain is the prefix of the sign-in domain; empty without one.
	// +optional
	Domain string `json:"domain,omitempty"`
	// DomainURL is the address at which users sign in; empty without a domain.
	// +optional
	DomainURL string `json:"domainURL,omitempty"`
	// Issuer is the URL of the OpenID Connect issuer of the pool's tokens.
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// ManagedClients are the names of the clients that the operator manages, so that dropped ones are deleted.
	// +optional
	// +kubebuilder:validation:MaxItems=40
	ManagedClients []string `json:"managedClients,omitempty"`
	// ManagedGroups are the names of the groups that the operator manages, so that dropped ones are deleted.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ManagedGroups []string `json:"managedGroups,omitempty"`
}

// CognitoUserPool is a user pool of Amazon Cognito, with app clients, a sign-in domain and groups. Its deletionPolicy is
// Retain by default, because its users are lost with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=userpool,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.status.userPoolID`
// +kubebuilder:printcolumn:name="Domain",type=string,JSONPath=`.status.domain`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type CognitoUserPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CognitoUserPoolSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status CognitoUserPoolStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *CognitoUserPool) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *CognitoUserPool) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether another pool takes the place of one that no longer exists.
func (o *CognitoUserPool) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ImportID returns the identifier of the pool to adopt.
func (o *CognitoUserPool) ImportID() string { return o.Spec.ImportID }

// CognitoUserPoolList is a list of CognitoUserPool.
// +kubebuilder:object:root=true
type CognitoUserPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CognitoUserPool `json:"items"`
}
