// Package export writes records for others: as JSON lines, as tables with commas or tabs, and as Parquet; as one stream, as
// one file, or as a folder of parts.
//
// Nothing half written ever stands under its final name. What is written goes aside, is made durable, and gets its name
// when it is whole. A manifest or journal beside it says how far it has come, so that an export that was cut off can go on.
// The package knows records and no database: where they come from, and what was taken before, is its caller's business.
package export
