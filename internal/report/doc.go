// Package report draws what a load or a drill found: as an aligned table on a terminal, as one page that needs
// nothing else, and as a progress bar meanwhile. It belongs to no stage and knows nothing of what it shows.
package report
