// Package zones loads time zones, the file of each once in a process.
package zones

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const most = 1024

var known = newCache()

func newCache() *lru.Cache[string, *time.Location] {
	cache, err := lru.New[string, *time.Location](most)
	if err != nil { // for sizes below one only
		panic(err)
	}
	return cache
}

// Load is time.LoadLocation that reads the file of a zone once. The rules of a
// zone do not change while a process runs. It is safe for concurrent use.
func Load(name string) (*time.Location, error) {
	if zone, ok := known.Get(name); ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		known.Add(name, zone)
	}
	return zone, err
}
