package sms

import "testing"

func TestOnlyMobileNumbersAreTexted(t *testing.T) {
	t.Parallel()
	for phone, want := range map[string]bool{
		"+8613800138000": true,  // a mobile of China
		"+14158675309":   true,  // of the North American plan, which does not tell mobiles apart
		"+4915112345678": true,  // of Germany
		"+85291234567":   true,  // of Hong Kong
		"+861012345678":  false, // a line in Beijing
		"+8610123456789": false, // no number of China's plan
		"+8695123":       false, // too short
		"+86400123456":   false, // a service number cut short
		"+864001234567":  false, // at shared cost
		"+19002345678":   false, // at the caller's extra cost
		"+18002345678":   false, // free of charge, to call
		"+11115550123":   false, // no such area
		"13800138000":    false, // no country
		"":               false,
	} {
		if got := Textable(phone); got != want {
			t.Errorf("%s: %v, want %v", phone, got, want)
		}
	}
}
