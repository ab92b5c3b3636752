// Package goldens says whether tests write the files that they compare with.
package goldens

import "flag"

var record = flag.Bool("record", false, "write recorded files anew before they are compared with (make record)")

// ShouldRecord reports whether a test writes its recorded files anew.
func ShouldRecord() bool { return *record }
