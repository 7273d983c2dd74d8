// SPDX-License-Identifier: Apache-2.0

// Package buildflags has the flags of go build that decide how large the project's programs are and how long the compiler takes. Releases,
// images, the Makefile and the test bed build with the same ones, so that tests run and judge the programs that users get.
package buildflags

import "strings"

// tags leave out code that could call any method of any type: with it the linker keeps every method of every AWS client (docs/design/0038).
var tags = []string{"grpcnotrace", "kustomize_disable_go_plugin_support"}

// plain are packages that are compiled without inlining: generated code, and large code that runs seldom.
var plain = []string{
	"k8s.io/kubernetes", "k8s.io/client-go/kubernetes", "k8s.io/client-go/informers", "k8s.io/client-go/listers",
	"k8s.io/client-go/applyconfigurations", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/cloud-provider",
	"k8s.io/dynamic-resource-allocation", "k8s.io/kubectl", "github.com/aws/aws-sdk-go-v2/service",
}

// All returns the flags. Without information for debuggers, which the linker leaves out of a release in any case, the compiler takes
// a fifth less.
func All() []string {
	out := []string{"-buildvcs=false", "-trimpath", "-tags=" + strings.Join(tags, ","), "-gcflags=all=-dwarf=false"}
	for _, p := range plain {
		out = append(out, "-gcflags="+p+"/...=-dwarf=false -l")
	}
	return out
}
