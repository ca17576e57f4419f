package storetest

import (
	"database/sql"
	"testing"
)

// Run checks every promise of the store on one engine.
func Run(t *testing.T, e Engine) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Engine)
	}{
		{"four migrators at once leave one schema", migrators},
		{"a store without tables is refused", noTables},
		{"ids are compared byte for byte", byteExact},
		{"the same plan is found, not made twice", samePlan},
		{"a moved cursor refuses slices", movedCursor},
		{"two planners never double a slice", twoPlanners},
		{"a plan is cut in several calls", slicing},
		{"a paused cursor waits, whatever comes into its queue", pausing},
		{"what was read tells what to expect", past},
		{"the same fire is accepted once", fires},
		{"a snapshot comes back as it was stored", snapshots},
		{"a hundred tasks and eight workers: each is claimed once", claimOnce},
		{"partitions take turns and priorities go first", fairness},
		{"the partition limit holds back, and only that partition", partitionLimit},
		{"a task is not claimed before it is due", notDue},
		{"an expired lease is taken over under a new fence", takeover},
		{"a worker that lost its lease can write nothing", fenced},
		{"a heartbeat keeps the lease", heartbeat},
		{"a voluntary release gives the attempt back", release},
		{"a task that wears out its workers fails", wornOut},
		{"a page is one transaction", pageIsAtomic},
		{"commit and next announcement are one transaction", announceNext},
		{"a record is decided against what is stored", decide},
		{"every version of a record is told once", told},
		{"events that are committed out of order are all read", outOfOrder},
		{"no version gets its number before an older one", numbersInOrder},
		{"what became of work is told once", toldOfWork},
		{"versions are brought together as the source wants it", merging},
		{"what a new mapping reads is a new version", remapped},
		{"the same id twice on a page is counted", duplicates},
		{"quarantine holds what is no record", quarantine},
		{"the same item is in quarantine once", metAgain},
		{"a record resolves what is in quarantine under its id", resolvedByRecord},
		{"items in quarantine are retried and discarded", quarantineMoves},
		{"one wish is open for each record and reason", signals},
		{"a notice raises signals for records that are stored", notices},
		{"the stalest records have their turn first", stalest},
		{"the list of a plan is made once and dealt into buckets", lists},
		{"signals are done with the ids that they asked for", wishes},
		{"signals of a plan that failed are taken up again", orphans},
		{"a scan is resumed after its last committed page", resume},
		{"ids of a search are noted once and settled one by one", twoPhases},
		{"no slice closes without proof", proof},
		{"the watermark waits for the gap, whatever the order", watermark},
		{"a dispute holds back completeness, not the watermark", dispute},
		{"a cursor stands where all its answers say", standing},
		{"what is missing is listed with its reason", gapsListed},
		{"a waiver lets the watermark pass, and taken back it goes back", waiving},
		{"a dispute is accepted by somebody who says why", settling},
		{"the completeness ledger has what is planned and what is closed", ledgerOfWindows},
		{"a sound store is found to be sound", health},
		{"failed tasks are retried unless covered elsewhere", retry},
		{"a claim knows the whole slice", claimedSpec},
		{"a window that is cut by ids is covered with its last part", partsTogether},
		{"a part in dispute is a dispute about the window", partInDispute},
		{"two last parts at once are one answer", partsAtOnce},
		{"ids that were read twice are one answer all the same", partsThatOverlap},
		{"a part that failed is waited for", partFails},
		{"parts of two plans are not one reading", partsOfTwoPlans},
		{"ids that were known cover no time", knownIDs},
		{"an early end keeps what it proved", earlyEnd},
		{"an early end claims no more than the ledger proves", earlyEndWithoutProof},
		{"children take the place of a slice that ended early", splitting},
		{"a part is cut into parts", splitOfAPart},
		{"a slice of which all is confirmed needs no children", splitIntoNothing},
		{"children that are not exactly the rest are refused", splitRefused},
		{"two planners never cut the same slice", twoSplitters},
		{"a pause holds a place back, and only that place", pausedPlaces},
		{"work that is paused piece by piece waits", pausedWork},
		{"a breaker opens after failures in a row, and one try closes it", breaking},
		{"of all who ask at once one may try", oneTries},
		{"a halt ends only by hand", halting},
		{"what was called off stays so, and a pause keeps its reason", calledOffForGood},
		{"refusals lower a limit, and quiet lifts it", limits},
		{"claims at once never pass the limit", hardLimit},
		{"what is called off ends, and comes back when it is retried", cancelling},
		{"what waits to be cut can be called off", cancelledPartial},
		{"of a slice that was cut the children are called off", cancelledChildren},
		{"failed tasks are retried by what they belong to", retryTargets},
		{"work gets another place in the queue", priorities},
		{"a request outside of a run has a row of its own", looseRequests},
		{"turns of the gate come one after the other", gateTurns},
		{"every promise is seen to be broken when it is", mutations},
		{"records are found by what they say", finding},
		{"an export reads every record once", export},
		{"the views for people can be read", views},
		{"a source is applied once, and again changes nothing", registryApply},
		{"a changed source closes one row and opens one", registryChange},
		{"appliers at once leave one open row", registryAtOnce},
		{"a second open row is refused", registryTwice},
		{"words are resolved to codes", dictionary},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, e) })
	}
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}
