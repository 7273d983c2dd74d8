#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs nexusctl of a release into a folder, once its checksum is right.
#   install.sh VERSION FOLDER
# RELEASES is the address of the releases, below which each has a folder with its tag.
set -euo pipefail

version=${1#v}
folder=$2
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*)
	echo "nexusctl has no release for $(uname -m)" >&2
	exit 4
	;;
esac
system=$(uname -s | tr '[:upper:]' '[:lower:]')
archive=nexusctl-$version-$system-$arch.tar.gz
mkdir -p "$folder"
cd "$folder"
curl -fsSL --retry 3 -O "$RELEASES/v$version/$archive" -O "$RELEASES/v$version/SHA256SUMS"
grep " $archive\$" SHA256SUMS | sha256sum -c - >&2
tar -xzf "$archive"
rm "$archive" SHA256SUMS
