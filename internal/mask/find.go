package mask

import (
	"slices"
	"strings"

	"sluice/internal/chat"
	"sluice/internal/entity"
)

// personal returns what is to be hidden of a text, in its order.
func personal(text string) []chat.Entity {
	all := slices.DeleteFunc(entity.Scan(text), func(e chat.Entity) bool {
		return names[e.Kind] == "" || e.Kind == chat.EntityPhone && isService(e.Value)
	})
	looks := literals(text)
	if len(looks) == 0 {
		return all
	}
	all = append(all, looks...) // they hold no sign that others begin with, so none overlap
	slices.SortFunc(all, func(a, b chat.Entity) int { return a.Start - b.Start })
	return all
}

// isService tells a number that everybody may call: a shop's own, no person's.
func isService(phone string) bool {
	phone = strings.TrimPrefix(strings.TrimPrefix(phone, "+86"), "+1")
	if len(phone) == 11 && phone[0] == '1' {
		phone = phone[1:]
	}
	if len(phone) != 10 {
		return false
	}
	switch phone[:3] {
	case "400", "800", "888", "877", "866", "855", "844", "833":
		return true
	}
	return false
}

// literals returns what looks like a placeholder.
func literals(text string) []chat.Entity {
	var all []chat.Entity
	for i := 0; i < len(text); i++ {
		next := strings.IndexByte(text[i:], '[')
		if next < 0 {
			return all
		}
		i += next
		if end := placeholderAt(text, i); end > 0 {
			all = append(all, chat.Entity{Kind: literal, Value: text[i:end], Start: i, End: end})
			i = end - 1
		}
	}
	return all
}

// maxDigits is how many digits the number of a placeholder has at most.
const maxDigits = 4

// maxName is the longest placeholder in bytes.
const maxName = len("[PHONE_]") + maxDigits

// placeholderAt returns where a placeholder ends that begins at i; 0: none does.
func placeholderAt(text string, i int) int {
	for _, name := range names {
		at := i + 1 + len(name) + 1
		if len(text) <= at || text[i+1:at-1] != name || text[at-1] != '_' || text[at] == '0' {
			continue
		}
		end := at
		for end < len(text) && end-at < maxDigits && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		if end > at && end < len(text) && text[end] == ']' {
			return end + 1
		}
	}
	return 0
}

// begun reports whether a text may be the beginning of a placeholder.
func begun(text string) bool {
	if len(text) >= maxName {
		return false
	}
	for _, name := range names {
		whole := "[" + name + "_"
		if strings.HasPrefix(whole, text) {
			return true
		}
		if rest, has := strings.CutPrefix(text, whole); has && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}
