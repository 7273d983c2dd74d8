// SPDX-License-Identifier: Apache-2.0

// Controlplane is etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok in one program, which acts as the one
// by whose name it is called. As one program, what they share is compiled and linked once.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // for CronJobs with a time zone

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // the metrics of client-go
	_ "k8s.io/component-base/metrics/prometheus/version"  // the metric of the version
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// commands are the programs that are cobra commands.
var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	name := filepath.Base(os.Args[0])
	switch newCommand := commands[name]; {
	case name == "etcd":
		etcdmain.Main(os.Args)
	case name == "kwok":
		os.Exit(runKwok())
	case newCommand != nil:
		os.Exit(cli.Run(newCommand()))
	default:
		fmt.Fprintf(os.Stderr, "%s: call this program etcd, kube-apiserver, kube-controller-manager, kube-scheduler or kwok\n", name)
		os.Exit(2)
	}
}
