// Package controller is the reconcilers, each short: fetch, gather, decide (in engine, capability and
// intent, all pure or read-only), do, summarise. Facts are gathered here and effects done here;
// decisions are made elsewhere.
package controller
