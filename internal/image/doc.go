// SPDX-License-Identifier: Apache-2.0

// Package image builds container images without a container engine, and has engines build those that need one. It writes
// them into OCI layouts and pushes them to registries.
package image
