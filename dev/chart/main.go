// SPDX-License-Identifier: Apache-2.0

// Command chart keeps the Helm chart and the manifests that are rendered from it.
//
//	chart generate ROOT                              copy config/ into the chart, and render manifests/
//	chart render ROOT NAMESPACE [VALUES-FILE...]     print the chart's objects, like helm template
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "generate":
		return generate(ctx, args[1])
	case len(args) >= 3 && args[0] == "render":
		objects, err := render(ctx, filepath.Join(args[1], chartDir), args[2], args[3:]...)
		if err != nil {
			return err
		}
		text, err := encode(objects)
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		return err
	default:
		return errors.New("usage: chart generate ROOT | chart render ROOT NAMESPACE [VALUES-FILE...]")
	}
}
