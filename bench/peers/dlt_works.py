"""Reads the works of some days with dlt's REST source into SQLite, as its documentation recommends: one resource of days, one
that depends on it, an offset paginator, records merged by their key. Nested lists stay JSON, which is the faster way."""

import datetime
import sys

import dlt
from dlt.sources.rest_api import rest_api_resources

base, first, days, file = sys.argv[1], datetime.date.fromisoformat(sys.argv[2]), int(sys.argv[3]), sys.argv[4]


@dlt.resource(name="days", selected=False)
def all_days():
    yield [{"day": (first + datetime.timedelta(days=n)).isoformat()} for n in range(days)]


@dlt.source(max_table_nesting=0)
def works():
    yield from rest_api_resources({
        "client": {"base_url": base},
        "resources": [
            all_days(),
            {
                "name": "works",
                "primary_key": "DOI",
                "write_disposition": "merge",
                "endpoint": {
                    "path": "works",
                    "params": {
                        "filter": "from-index-date:{resources.days.day},until-index-date:{resources.days.day}",
                        "sort": "indexed", "order": "asc",
                    },
                    "data_selector": "message.items",
                    "paginator": {"type": "offset", "limit": 1000, "offset_param": "offset", "limit_param": "rows", "total_path": None, "stop_after_empty_page": True},
                },
            },
        ],
    })


pipeline = dlt.pipeline("bench", pipelines_dir=".", destination=dlt.destinations.sqlalchemy(f"sqlite:///{file}"), dataset_name="main")
print(pipeline.run(works()))
