// SPDX-License-Identifier: Apache-2.0

package v1

// CognitoSpec says how the users of a capability sign in.
type CognitoSpec struct {
	// CallbackURLs lists the addresses to which Cognito sends users after they signed in. A path, such as /callback, is completed to
	// https://{ingress.host}/callback. Absent: /callback, which needs ingress.host.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	CallbackURLs []SignInURL `json:"callbackURLs,omitempty"`
	// LogoutURLs lists the addresses to which Cognito may send users after they signed out, completed in the same way. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	LogoutURLs []SignInURL `json:"logoutURLs,omitempty"`
	// Groups of users, which their tokens name. Absent: admin, operator and viewer.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	Groups []UserGroup `json:"groups,omitempty"`
	// DomainPrefix begins the address of the sign-in page, https://{prefix}.auth.{region}.amazoncognito.com. It is unique in
	// a region over all AWS accounts, and must not contain aws, amazon or cognito. Absent: {capabilityName}-{environment}-{account}.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.contains('aws') && !self.contains('amazon') && !self.contains('cognito')",message="domainPrefix must not contain aws, amazon or cognito, which Cognito reserves"
	DomainPrefix string `json:"domainPrefix,omitempty"`
	// RecreateOnLoss creates another pool, without users, when the pool was deleted outside the operator; default is to report
	// Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// SignInURL is a URL with HTTPS, http://localhost for development, or a path on the host of the ingress.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^(https://[^\s#/][^\s#]*|http://localhost(:[0-9]{1,5})?(/[^\s#]*)?|/[^\s#]*)$`
type SignInURL string

// UserGroup is the name of a group of users.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
type UserGroup string
