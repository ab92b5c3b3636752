package sms

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
)

// sign signs as the carrier documents it: the address and each field's name and
// value, names sorted. The library's own signer is private.
func sign(key, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(key))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
