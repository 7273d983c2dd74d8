// SPDX-License-Identifier: Apache-2.0

// Package helmrelease reads Helm charts from folders, archives and repositories, and installs, upgrades and uninstalls
// releases in process. Releases are stored as helm stores them, so that helm list and helm history show them.
package helmrelease
