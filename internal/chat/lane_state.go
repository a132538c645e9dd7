package chat

// LaneState is what an operator wants of a lane, or what came of it.
type LaneState string

// The states of a lane.
const (
	LaneOpen     LaneState = "open"
	LanePaused   LaneState = "paused"   // no new call starts; intake and answers at the limit go on
	LaneDraining LaneState = "draining" // nothing more is taken in, what is there is worked off
	LaneDrained  LaneState = "drained"  // draining, and nothing is left: nobody orders it
)
