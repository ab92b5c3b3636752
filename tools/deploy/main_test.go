// Package deploy tests the files of the folder deploy with the libraries that read them:
// Compose's own and Prometheus's.
package deploy

import (
	"os"
	"testing"
)

// TestMain runs the tests in the folder that they are about.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../deploy"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
