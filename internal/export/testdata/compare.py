# Reads our Parquet with DuckDB and compares every row and every column with the JSON lines of the same records, and with
# what the lines leave out. Arguments: the lines, the rest, one file, a folder.
import datetime, json, sys
import duckdb

def load(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]

lines, rest = load(sys.argv[1]), load(sys.argv[2])
epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

def micros(text):
    return text and (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - epoch) // datetime.timedelta(microseconds=1)

def text(value):  # a mapped field in a column of texts
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else None

def texts(value):  # and in one of lists
    if value is None:
        return None
    members = [text(m) for m in (value if isinstance(value, list) else [value])]
    return None if None in members else members

def wanted(line, more):
    f = line["fields"]
    row = {k: line[k] for k in ("source", "record_type", "id", "rev", "deleted")}
    row.update({"merged_into": line.get("merged_into"), "retracted": line.get("retracted", False)})
    row.update({"updated_at": micros(line["updated_at"]), "first_seen": micros(line["first_seen"])})
    row.update({k: micros(line[k]) if line.get(k) else None for k in ("missing_since", "gone_at")})
    row.update(more)
    row.update({"title": text(f.get("title")), "tags": texts(f.get("tags")), "n": text(f.get("n")), "fields": f, "raw": line["raw"]})
    return row

def read(what):
    rel = duckdb.sql("select * replace (epoch_us(updated_at) as updated_at, epoch_us(first_seen) as first_seen, "
                     "epoch_us(observed_at) as observed_at, epoch_us(changed_at) as changed_at, "
                     "epoch_us(missing_since) as missing_since, epoch_us(gone_at) as gone_at) from " + what)
    for values in rel.fetchall():
        row = dict(zip(rel.columns, values))
        row["fields"] = json.loads(row["fields"])
        yield row

def same(rows, want, kind):
    assert len(rows) == len(want) > 0, (kind, len(rows), len(want))
    for have, expected in zip(rows, want):
        if not isinstance(expected["raw"], str):
            have["raw"] = json.loads(have["raw"])
        assert have.keys() == expected.keys(), (kind, sorted(have), sorted(expected))
        for name, value in expected.items():
            assert have[name] == value and type(have[name]) is type(value), (kind, expected["id"], name, have[name], value)

want = [wanted(*pair) for pair in zip(lines, rest)]
same(list(read("'%s'" % sys.argv[3])), want, "file")

# In the folder the order is that of the files, and the year stands in their names: a number, also for records without one.
for row in want:
    at = row["updated_at"]
    row["year"] = 0 if at is None else (epoch + datetime.timedelta(microseconds=at)).year
by_id = lambda row: row["id"]
folder = "read_parquet('%s/**/*.parquet', hive_partitioning = true)" % sys.argv[4]
same(sorted(read(folder), key=by_id), sorted(want, key=by_id), "folder")
some = [row for row in want if row["source"] == "pubmed" and row["year"] == 2027]
same(sorted(read(folder + " where source = 'pubmed' and year = 2027"), key=by_id), sorted(some, key=by_id), "year")
print(len(want), "rows")
