package entity

import "strings"

// accounts are the countries whose bank accounts have an IBAN, each with its length.
const accounts = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28" +
	"HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22" +
	"SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20"

// account takes the number of a bank account (ISO 13616) that begins at i, in one or in
// groups with blanks, and returns its end, or 0.
func (s *scan) account(i int) int {
	n := accountLength(s.text, i)
	number := make([]byte, 0, n)
	end := i
	for ; end < len(s.text) && len(number) < n; end++ {
		switch c := s.text[end]; {
		case digit(c):
			number = append(number, c)
		case letter(c):
			number = append(number, c&^0x20)
		case c == ' ' && s.text[end-1] != ' ':
		default:
			return 0
		}
	}
	if n == 0 || len(number) < n || end < len(s.text) && alphanumeric(s.text, end) > end || !isAccount(number) {
		return 0
	}
	return s.add(Card, string(number), i, end)
}

// accountLength is how long the number is that begins at i; 0: none does.
func accountLength(text string, i int) int {
	if i+15 > len(text) || !letter(text[i+1]) || !digit(text[i+2]) || !digit(text[i+3]) {
		return 0
	}
	country := strings.ToUpper(text[i : i+2])
	for k := 0; k < len(accounts); k += 4 {
		if accounts[k:k+2] == country {
			return valueOf(accounts[k+2 : k+4])
		}
	}
	return 0
}

// isAccount applies the check of ISO 7064 to a number in digits and capitals.
func isAccount(number []byte) bool {
	rest := 0
	for k := range number {
		c := number[(k+4)%len(number)]
		if digit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
