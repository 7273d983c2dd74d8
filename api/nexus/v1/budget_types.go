// SPDX-License-Identifier: Apache-2.0

package v1

// BudgetSpec declares the costs that a capability is expected to have in a month, and who is notified when they are exceeded. It becomes
// the AWSResource {capabilityName}-{environment}-budget-{hash} and the SNSTopic {capabilityName}-{environment}-budget. An administrator
// allows AWS::Budgets::Budget with --types of the operator, and the payer of the account activates the tag capability as a cost
// allocation tag. https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
type BudgetSpec struct {
	// Monthly is the amount for a month, in whole units of the currency.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Monthly int32 `json:"monthly"`
	// Currency of the amount, that in which AWS bills the account. Absent: USD, and CNY in regions of China.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Z]{3}$`
	// +kubebuilder:validation:MaxLength=3
	Currency string `json:"currency,omitempty"`
	// Actions says what happens when a threshold is exceeded: notify sends a message to the topic and to the emails. Absent: notify.
	// +optional
	// +kubebuilder:validation:Enum=notify
	Actions BudgetActions `json:"actions,omitempty"`
	// Thresholds at which AWS notifies. Absent: 80 and 100 percent of the actual costs, and 100 percent of the forecasted costs. AWS cannot
	// change them in a budget, so that an edit makes another budget.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +listType=atomic
	Thresholds []BudgetThreshold `json:"thresholds,omitempty"`
	// Emails are the addresses that AWS notifies beside the topic. Absent: none. An edit makes another budget.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	Emails []BudgetEmail `json:"emails,omitempty"`
}

// BudgetActions says what happens when a threshold is exceeded.
type BudgetActions string

// BudgetNotify sends notifications.
const BudgetNotify BudgetActions = "notify"

// BudgetEmail is an email address.
// +kubebuilder:validation:MinLength=3
// +kubebuilder:validation:MaxLength=50
// +kubebuilder:validation:Pattern=`^[^\s@]+@[^\s@]+[.][^\s@]+$`
type BudgetEmail string

// BudgetCosts are the costs that a threshold is compared with.
// +kubebuilder:validation:Enum=Actual;Forecasted
type BudgetCosts string

// The costs that a threshold is compared with: those of the month until now, and those that AWS expects for the whole month.
const (
	CostsActual     BudgetCosts = "Actual"
	CostsForecasted BudgetCosts = "Forecasted"
)

// BudgetThreshold is a part of the amount above which AWS notifies.
type BudgetThreshold struct {
	// Percent of the amount.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Percent int32 `json:"percent"`
	// Costs that are compared: Actual or Forecasted. Absent: Actual.
	// +optional
	Costs BudgetCosts `json:"costs,omitempty"`
}
