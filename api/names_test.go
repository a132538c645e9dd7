package api

import (
	"reflect"
	"strings"
	"testing"
)

func TestNamesAreTakenToTheLetterAndOnce(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`{"message":"a","metadata":{"A":"1","a":"2"},"customer":{"id":"7"}}`:    true,
		`{"message":"a","MESSAGE":"b"}`:                                         false,
		`{"Message":"a"}`:                                                       false,
		`{"message":"a","ſession_id":"s"}`:                                      false,
		`{"message":"a","message":"b"}`:                                         false,
		`{"message":"a","m\u0065ssage":"b"}`:                                    false,
		`{"message":"a","customer":{"id":"1","id":"2"}}`:                        false,
		`{"message":"a","customer":{"ID":"1"}}`:                                 false,
		`{"message":"a","metadata":{"k":"1","k":"2"}}`:                          false,
		`{"message":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: false,
		`{"message":"a"`:                                                        true, // the parser's to refuse
		`nonsense`:                                                              true,
	} {
		if err := checkNames([]byte(body), reflect.TypeFor[NewTicket]()); (err == nil) != ok {
			t.Errorf("%.60s: %v", body, err)
		}
	}
}
