package sms

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"sluice/internal/chat"
)

// What carriers cannot be asked goes into the log, and a number must not.
func TestNoErrorNamesANumber(t *testing.T) {
	t.Parallel()
	away := NewTransport(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody is there") })
	twilio, err := NewTwilio(TwilioConfig{Account: "AC1", Token: "token", From: "MG1", Transport: away})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{chat.Chinese: "a", chat.English: "b"}
	aliyun, err := NewAliyun(AliyunConfig{Key: "key", Secret: "secret", Signs: words, Templates: words, Transport: away})
	if err != nil {
		t.Fatal(err)
	}
	n := &chat.Notice{ID: "t_1", Phone: "+8613800138000", Language: chat.Chinese, Code: "ab12-cd34"}
	_, ofTwilio := twilio.Find(t.Context(), n)
	_, ofAliyun := aliyun.Find(t.Context(), n)
	_, unsentTwilio := twilio.Send(t.Context(), n)
	_, unsentAliyun := aliyun.Send(t.Context(), n)
	for _, err := range []error{ofTwilio, ofAliyun, unsentTwilio, unsentAliyun} {
		if err == nil || strings.Contains(err.Error(), "13800138000") || strings.Contains(err.Error(), "AC1") {
			t.Errorf("the error says %v", err)
		}
	}
	for _, err := range []error{unsentTwilio, unsentAliyun} {
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Verdict != NotNow {
			t.Errorf("what was never sent is %v", err)
		}
	}
}
