package faq

import "testing"

func TestRareFeaturesGiveWayWhenThereAreManyEntries(t *testing.T) {
	t.Parallel()
	const features = 10
	all := make([][]weighted, 3)
	for i := range all {
		for n := range features / (i + 1) {
			all[i] = append(all[i], weighted{number: int32(n)})
		}
	}
	m := newSoftmax(features, maxWeights/5, all) // room for five features
	if m.row[4] != 4 || m.row[5] != unknown || len(m.weights) != 5*m.classes {
		t.Errorf("rows %v, %d weights", m.row, len(m.weights))
	}
}
