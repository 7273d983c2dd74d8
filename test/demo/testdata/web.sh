# SPDX-License-Identifier: Apache-2.0

# The intent and the binding of the README.
awk -v RS='```' '/^yaml\n/ && /SecurityIntentBinding/ { sub(/^yaml/, ""); print }' README.md | kubectl apply -f -
kubectl wait sib/web --for=condition=Ready --timeout=60s
