package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"sluice/internal/queue"
)

// deviceCookie tells a browser in which an operator has logged in before from strangers:
// it has tries of its own, so strangers who spend all the others do not keep it out. It
// opens nothing by itself, and counts no more once the password is another one.
const deviceCookie = "sluice_device"

// deviceFor is how long such a browser is known.
const deviceFor = 90 * 24 * time.Hour

// deviceCookie makes the cookie of a browser in which an operator has logged in.
func (a *API) deviceCookie(id string, o queue.Operator) http.Cookie {
	c := a.cookie(id+"."+hex.EncodeToString(deviceSum(id, o)), int(deviceFor.Seconds()))
	c.Name, c.Path = deviceCookie, adminPath+"login"
	return c
}

// deviceOf returns the id of a browser that an operator has logged in with, or nothing.
func deviceOf(cookie string, o queue.Operator) string {
	id, sum, found := strings.Cut(cookie, ".")
	given, err := hex.DecodeString(sum)
	if !found || err != nil || o.Mark == "" || !hmac.Equal(given, deviceSum(id, o)) {
		return ""
	}
	return id
}

func deviceSum(id string, o queue.Operator) []byte {
	sum := hmac.New(sha256.New, []byte(o.Mark))
	sum.Write([]byte("device " + o.Name + " " + id))
	return sum.Sum(nil)
}
