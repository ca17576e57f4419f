package patra

// Strategy is how the need of a plan becomes slices.
type Strategy string

// The strategies. An executor runs the slices of all of them; only planners tell them apart.
const (
	StrategyTime     Strategy = "TIME"            // stretches of time
	StrategyHybrid   Strategy = "HYBRID"          // stretches of time, and ranges of ids where one is too full
	StrategyIDRange  Strategy = "ID_RANGE"        // ranges of ids, or buckets of ids that are known
	StrategyLandmark Strategy = "CURSOR_LANDMARK" // one walk through everything, for sources that cannot filter by date
	StrategyVolume   Strategy = "VOLUME_BUDGET"   // as much as a budget allows, and then the rest
)

// Strategies lists them all.
var Strategies = []Strategy{StrategyTime, StrategyHybrid, StrategyIDRange, StrategyLandmark, StrategyVolume}
