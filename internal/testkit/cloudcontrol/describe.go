// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
)

// serveQuery answers the operations of CloudFormation that the double has: DescribeType of public types.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html
func (d *Double) serveQuery(w http.ResponseWriter, body string) {
	form, err := url.ParseQuery(body)
	if err != nil || form.Get("Action") != "DescribeType" {
		writeXMLError(w, http.StatusBadRequest, "InvalidAction", "The double does not implement "+form.Get("Action"))
		return
	}
	m, refused := d.model(form.Get("TypeName"))
	if refused != nil {
		writeXMLError(w, http.StatusNotFound, refused.code, refused.message)
		return
	}
	type result struct {
		Arn, Type, TypeName, Visibility, ProvisioningType, DeprecatedStatus, Schema string
		IsActivated                                                                 bool
	}
	w.Header().Set("Content-Type", "text/xml")
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"http://cloudformation.amazonaws.com/doc/2010-05-15/ DescribeTypeResponse"`
		Result  result   `xml:"DescribeTypeResult"`
	}{Result: result{
		Arn: "arn:aws:cloudformation:us-east-1::type/resource/" + strings.ReplaceAll(m.TypeName, "::", "-"), Type: "RESOURCE",
		TypeName:   m.TypeName,
		Visibility: "PUBLIC", ProvisioningType: m.provisioning(), DeprecatedStatus: "LIVE", Schema: string(m.text), IsActivated: true,
	}})
}

func writeXMLError(w http.ResponseWriter, status int, code, message string) {
	type failure struct{ Type, Code, Message string }
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"http://cloudformation.amazonaws.com/doc/2010-05-15/ ErrorResponse"`
		Error   failure
	}{Error: failure{"Sender", code, message}})
}
