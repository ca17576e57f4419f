package patra

// Operation is what a harvest is for.
type Operation string

// The three operations. Each has its own cursors; one never moves another's.
const (
	Harvest  Operation = "HARVEST"  // forward, from the watermark to now minus a safety lag
	Backfill Operation = "BACKFILL" // history, in a namespace of its own
	Update   Operation = "UPDATE"   // known records again
)

// Priority is the default place in the queue: smaller is sooner.
func (o Operation) Priority() int {
	switch o {
	case Harvest:
		return 2
	case Update:
		return 5
	}
	return 8
}

// Operations lists them all.
var Operations = []Operation{Harvest, Backfill, Update}

// Who set work in motion.
const (
	SchedulerCron   = "CRON"
	SchedulerManual = "MANUAL"
	SchedulerAPI    = "API"
	SchedulerSystem = "SYSTEM"
)

// What set it in motion.
const (
	TriggerScheduled = "SCHEDULED"
	TriggerManual    = "MANUAL"
	TriggerAPI       = "API"
	TriggerReslice   = "RESLICE"
)

// Partition is the unit of fairness: one operation at one endpoint of one source.
func Partition(source, endpoint string, op Operation) string {
	return source + "/" + endpoint + "/" + string(op)
}
