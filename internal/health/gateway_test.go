// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func gatewayObject(kind string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gatewayKind(kind))
	u.SetNamespace("shop")
	u.SetName("web")
	u.SetGeneration(2)
	return u
}

func said(kind, is string, generation int64) any {
	return map[string]any{"type": kind, "status": is, "reason": "Why" + kind, "message": "m", "observedGeneration": generation,
		"lastTransitionTime": "2026-01-01T00:00:00Z"}
}

func TestGateway_IsReadyOnceProgrammedWithAnAddress(t *testing.T) {
	spec := map[string]any{"gatewayClassName": "alb"}
	address := []any{map[string]any{"type": "Hostname", "value": "gw.example.com"}}
	class := gatewayObject("GatewayClass", map[string]any{"spec": map[string]any{"controllerName": "c"}})
	class.SetNamespace("")
	class.SetName("alb")
	for name, c := range map[string]struct {
		conditions []any
		addresses  []any
		class      bool
		want       Health
		message    string
	}{
		"programmed": {[]any{said("Accepted", "True", 2), said("Programmed", "True", 2)}, address, true, Health{Ready: true}, ""},
		"without an address": {[]any{said("Accepted", "True", 2), said("Programmed", "True", 2)}, nil, true, Health{Reason: "Progressing"},
			"no address"},
		"not accepted": {[]any{said("Accepted", "False", 2)}, nil, true, Health{Reason: "GatewayNotAccepted", Stalled: true},
			"WhyAccepted"},
		"not programmed": {[]any{said("Accepted", "True", 2), said("Programmed", "False", 2)}, address, true,
			Health{Reason: "GatewayNotAccepted", Stalled: true}, "WhyProgrammed"},
		"of an earlier time": {[]any{said("Accepted", "True", 1), said("Programmed", "True", 1)}, address, true, Health{Reason: "Progressing"},
			"GatewayClass alb"},
		"not looked at":        {nil, nil, true, Health{Reason: "Progressing"}, "GatewayClass alb"},
		"without its class":    {nil, nil, false, Health{Reason: "GatewayMissing", Stalled: true}, "spec.ingress.gateway.class"},
		"unknown to its class": {[]any{said("Accepted", "Unknown", 2)}, nil, true, Health{Reason: "Progressing"}, "has not looked"},
	} {
		api := fake.NewClientBuilder()
		if c.class {
			api = api.WithObjects(class.DeepCopy())
		}
		got, err := Reader{Client: api.Build()}.Of(t.Context(),
			gatewayObject("Gateway", map[string]any{"spec": spec, "status": map[string]any{"conditions": c.conditions, "addresses": c.addresses}}))
		if err != nil || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %q, want %q: %v", name, got.Message, c.message, err)
		}
		if got.Message = ""; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestGateway_IsNotReadyWhileAListenerDoesNotServe(t *testing.T) {
	listener := func(conditions ...any) any { return map[string]any{"name": "https", "conditions": conditions} }
	for name, c := range map[string]struct {
		https   any
		ready   bool
		message string
	}{
		"served": {listener(said("Accepted", "True", 2), said("ResolvedRefs", "True", 2), said("Programmed", "True", 2)), true, ""},
		"not programmed": {listener(said("Accepted", "True", 2), said("Programmed", "False", 2)), false,
			"listener https: its controller says Programmed=False"},
		"a wrong certificate":  {listener(said("ResolvedRefs", "False", 2)), false, "WhyResolvedRefs"},
		"not accepted":         {listener(said("Accepted", "False", 2)), false, "WhyAccepted"},
		"of an earlier time":   {listener(said("Programmed", "False", 1)), true, ""},
		"of one without words": {listener(), true, ""},
	} {
		status := map[string]any{"conditions": []any{said("Accepted", "True", 2), said("Programmed", "True", 2)},
			"addresses": []any{map[string]any{"value": "gw.example.com"}}, "listeners": []any{c.https}}
		got, err := Reader{Client: fake.NewClientBuilder().Build()}.Of(t.Context(),
			gatewayObject("Gateway", map[string]any{"spec": map[string]any{}, "status": status}))
		if err != nil || got.Ready != c.ready || got.Stalled == c.ready || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestHTTPRoute_IsReadyOnceItsGatewayTakesIt(t *testing.T) {
	spec := map[string]any{"parentRefs": []any{map[string]any{"name": "shared", "namespace": "edge"}}}
	gateway := gatewayObject("Gateway", map[string]any{"spec": map[string]any{"gatewayClassName": "alb"},
		"status": map[string]any{"conditions": []any{said("Programmed", "Unknown", 0)}}}) // the default of the definition
	gateway.SetNamespace("edge")
	gateway.SetName("shared")
	class := gatewayObject("GatewayClass", map[string]any{})
	class.SetNamespace("")
	class.SetName("alb")
	by := func(conditions ...any) []any { return []any{map[string]any{"conditions": conditions}} }
	for name, c := range map[string]struct {
		parents []any
		gateway bool
		class   bool
		want    Health
		message string
	}{
		"accepted":     {by(said("Accepted", "True", 2), said("ResolvedRefs", "True", 2)), true, true, Health{Ready: true}, ""},
		"not accepted": {by(said("Accepted", "False", 2)), true, true, Health{Reason: "GatewayNotAccepted", Stalled: true}, "WhyAccepted"},
		"without Services": {by(said("Accepted", "True", 2), said("ResolvedRefs", "False", 2)), true, true,
			Health{Reason: "GatewayNotAccepted", Stalled: true}, "WhyResolvedRefs"},
		"as it was": {by(said("Accepted", "True", 1), said("ResolvedRefs", "True", 1)), true, true, Health{Reason: "Progressing"},
			"has not looked"},
		"not looked at": {nil, true, true, Health{Reason: "Progressing"}, "no Gateway has accepted"},
		"without a class": {nil, true, false, Health{Reason: "GatewayMissing", Stalled: true},
			"Gateway shared in namespace edge is of GatewayClass alb, which does not exist"},
		"without a Gateway": {nil, false, true, Health{Reason: "GatewayMissing", Stalled: true}, "no Gateway shared in namespace edge"},
	} {
		api := fake.NewClientBuilder()
		if c.gateway {
			api = api.WithObjects(gateway.DeepCopy())
		}
		if c.class {
			api = api.WithObjects(class.DeepCopy())
		}
		got, err := Reader{Client: api.Build()}.Of(t.Context(),
			gatewayObject("HTTPRoute", map[string]any{"spec": spec, "status": map[string]any{"parents": c.parents}}))
		if err != nil || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %q, want %q: %v", name, got.Message, c.message, err)
		}
		if got.Message = ""; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestHTTPRoute_DependsOnItsOwnGatewayAlone(t *testing.T) {
	const uid = "nexus.ai/capability-uid"
	said2 := func(types ...string) (out []any) {
		for _, t := range types {
			out = append(out, said(t, "True", 2))
		}
		return out
	}
	entry := func(namespace, name string, conditions []any) any {
		return map[string]any{"parentRef": map[string]any{"namespace": namespace, "name": name}, "conditions": conditions}
	}
	here := entry("edge", "shared", said2("Accepted", "ResolvedRefs"))
	broken, serving := map[string]any{"name": "https", "conditions": []any{said("Programmed", "False", 2)}},
		map[string]any{"name": "http", "conditions": said2("Programmed")}
	for name, c := range map[string]struct {
		parents []any
		gateway map[string]any
		own     string
		want    Health
		message string
	}{
		"served": {[]any{here}, map[string]any{"conditions": said2("Programmed"), "listeners": []any{serving}}, "",
			Health{Ready: true}, ""},
		"what another Gateway said": {[]any{entry("edge", "before", []any{said("Accepted", "False", 1)}), here}, map[string]any{}, "",
			Health{Ready: true}, ""},
		"what another Gateway alone said": {[]any{entry("", "shared", said2("Accepted", "ResolvedRefs"))}, map[string]any{}, "",
			Health{Reason: "Progressing"}, "no Gateway has accepted"},
		"a listener of somebody else": {[]any{here}, map[string]any{"listeners": []any{broken, serving}}, "", Health{Ready: true}, ""},
		"no listener that serves": {[]any{here}, map[string]any{"listeners": []any{broken}}, "",
			Health{Reason: "GatewayNotAccepted", Stalled: true}, "Gateway shared, listener https"},
		"a Gateway that does not serve": {[]any{here}, map[string]any{"conditions": []any{said("Programmed", "False", 2)}}, "",
			Health{Reason: "GatewayNotAccepted", Stalled: true}, "Gateway shared: "},
		"its own, judged for itself": {[]any{here}, map[string]any{"listeners": []any{broken}}, "1", Health{Ready: true}, ""},
		"a Gateway that is gone": {[]any{here}, nil, "", Health{Reason: "GatewayMissing", Stalled: true},
			"no Gateway shared in namespace edge"},
	} {
		class := gatewayObject("GatewayClass", map[string]any{})
		class.SetNamespace("")
		api := fake.NewClientBuilder().WithObjects(class)
		if c.gateway != nil {
			gateway := gatewayObject("Gateway", map[string]any{"spec": map[string]any{"gatewayClassName": "web"}, "status": c.gateway})
			gateway.SetNamespace("edge")
			gateway.SetName("shared")
			gateway.SetLabels(map[string]string{uid: c.own})
			api = api.WithObjects(gateway)
		}
		route := gatewayObject("HTTPRoute",
			map[string]any{"spec": map[string]any{"parentRefs": []any{map[string]any{"name": "shared", "namespace": "edge"}}},
				"status": map[string]any{"parents": c.parents}})
		route.SetLabels(map[string]string{uid: "1"})
		got, err := Reader{Client: api.Build()}.Of(t.Context(), route)
		if err != nil || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %q, want %q: %v", name, got.Message, c.message, err)
		}
		if got.Message = ""; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
