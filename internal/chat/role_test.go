package chat

import "testing"

func TestOperatorsRolesIncludeLesserOnes(t *testing.T) {
	t.Parallel()
	for i, r := range Roles() {
		for j, other := range Roles() {
			if r.Includes(other) != (i >= j) {
				t.Errorf("%s includes %s: %v", r, other, r.Includes(other))
			}
		}
		if r.Includes("") || Role("").Includes(r) || Role("owner").Includes(r) {
			t.Errorf("%s and what is no role", r)
		}
	}
}
