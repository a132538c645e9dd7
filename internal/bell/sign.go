package bell

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"time"
)

// errURL hides the URL, which holds a secret.
var errURL = errors.New("the URL cannot be read")

// dingTalkURL adds timestamp and signature to a robot's URL: HMAC-SHA256 by the secret over
// the milliseconds, a line feed and the secret.
func dingTalkURL(text, secret string, now time.Time) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errURL
	}
	stamp := strconv.FormatInt(now.UnixMilli(), 10)
	q := u.Query()
	q.Set("timestamp", stamp)
	q.Set("sign", mac(secret, stamp+"\n"+secret))
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// feishuSign is over nothing: seconds, a line feed and the secret are the key.
func feishuSign(secret string, now time.Time) (stamp, sign string) {
	stamp = strconv.FormatInt(now.Unix(), 10)
	return stamp, mac(stamp+"\n"+secret, "")
}

func mac(key, text string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(m.Sum(nil))
}
