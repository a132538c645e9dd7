package queue

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestVectorsAreKeptBySpaceAndTextUntilNobodyUsesThem(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		one, other := VectorKey("small 256", "a lamp"), VectorKey("large 256", "a lamp")
		if one == other || one != VectorKey("small 256", "a lamp") {
			t.Errorf("%s and %s", one, other)
		}
		if _, err := w.Vector(t.Context(), one); !errors.Is(err, ErrNotFound) {
			t.Errorf("before it was kept: %v", err)
		}
		for _, key := range []string{one, other, one} {
			if err := errors.Join(w.VectorRoom(t.Context(), 1), w.KeepVector(t.Context(), key, []byte(key))); err != nil {
				t.Fatal(err)
			}
		}
		again := w.open() // a restart
		if got, err := again.Vector(t.Context(), one); err != nil || !bytes.Equal(got, []byte(one)) {
			t.Errorf("%q, %v", got, err)
		}
		used := func(key string) bool { return key == one }
		if swept, err := again.SweepVectors(t.Context(), time.Now(), used); swept != 0 || err != nil {
			t.Errorf("%d young ones were swept, %v", swept, err)
		}
		later := time.Now().Add(keepVector + time.Hour)
		if swept, err := again.SweepVectors(t.Context(), later, used); swept != 1 || err != nil {
			t.Errorf("%d swept, %v", swept, err)
		}
		if _, err := again.Vector(t.Context(), one); err != nil {
			t.Errorf("what is used: %v", err)
		}
		if _, err := again.Vector(t.Context(), other); !errors.Is(err, ErrNotFound) {
			t.Errorf("what nobody uses: %v", err)
		}
		if err := again.VectorRoom(t.Context(), maxVectorEntries); !errors.Is(err, ErrStorage) {
			t.Errorf("beyond the bound: %v", err)
		}
	})
}
