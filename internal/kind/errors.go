// SPDX-License-Identifier: Apache-2.0

package kind

import "time"

// ServiceFacts are the facts about a service of AWS that kinds call. `make generate` writes them into packages awsclient and kind, which
// have those for all services.
type ServiceFacts struct {
	// Service is the SDK's service id in lower case without spaces, such as "secretsmanager".
	Service string
	// IAM is the name in IAM's actions, where that is another one.
	IAM string
	// PerSecond and Burst are the calls that may go to the service, in one account and region, steadily and at once after a quiet time. They
	// lie at or below AWS's default quotas. Zero: as many as to other services.
	PerSecond float64
	Burst     int
	// Rows assign the classes of error codes. The first row that matches decides, so the specific come before the general.
	Rows []ErrorRow
	// Answers are answers of AWS with their classes: at least one that each row decides.
	Answers []ErrorAnswer
}

// ErrorRow is one line of the table of errors. An empty field matches anything; every field given must match.
type ErrorRow struct {
	// Operation is one or more names with "|" between; "Update*" is a prefix.
	Operation string
	// Code is one or more codes with "|" between, without their last "Exception", "Fault" or "Error"; "*.NotFound" is a suffix.
	Code string
	// Message is a part of AWS's text, in lower case.
	Message string
	Class   ErrorClass
	// After is the least time to wait.
	After time.Duration
	// Within limits how long AWS may still give this answer, of the class Propagating.
	Within time.Duration
}

// ErrorAnswer is an error that AWS answers with.
type ErrorAnswer struct {
	Operation, Code, Message string
	// Status is the HTTP status; 0 for an error that is a member of an answer.
	Status int
	Class  ErrorClass
}

// ErrorClass is the meaning of a failed AWS call for the object that made it: one of the classes of package awsclient.
type ErrorClass string
