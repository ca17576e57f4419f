package archive

import (
	"testing"

	"patra"
)

// The tables keep the sum of the rows that an archive took, and rows with another sum are not taken back. So the
// sum stays what it is.
func TestTheSumOfRowsStays(t *testing.T) {
	sum := newRowSum()
	for _, row := range []patra.ArchiveRow{
		{Table: "ing_task_run_batch", Values: map[string]any{"id": int64(7), "error": nil, "a": "é<", "b": `{"x": 1.0}`}},
		{Table: "ing_request", Values: map[string]any{"id": int64(9007199254740993)}},
	} {
		if err := sum.add(row); err != nil {
			t.Fatal(err)
		}
	}
	const want = "464ed787d451b3b18548f87360c5a92bbf79c3227c23f8effbead461ede5405f"
	if is := sum.String(); is != want {
		t.Errorf("the sum is %s, and was %s", is, want)
	}
}
