# SPDX-License-Identifier: Apache-2.0

# What the commands read.
echo -n id > id.txt
echo -n secret > secret.txt
exec < id.txt
