// Package deploy has the files that start a deployment and watch it.
package deploy

import _ "embed" // the script

// VisibilityIndexes is the SQL that has the indexes of Temporal's visibility tables on
// PostgreSQL leave out missing values. It is safe to run again.
//
//go:embed temporal/visibility-indexes.sql
var VisibilityIndexes string
