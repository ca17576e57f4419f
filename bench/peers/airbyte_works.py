"""Reads the works of some days with Airbyte's CDK: a low-code source as its documentation recommends, with a list of days to go
through and pages by offset. It writes its records to its output, as every Airbyte source does; storing them is the work of another
program, a destination, which is not measured."""

import datetime
import json
import sys

from airbyte_cdk.entrypoint import launch
from airbyte_cdk.models import ConfiguredAirbyteCatalogSerializer
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

base, first, days, workers = sys.argv[1], datetime.date.fromisoformat(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

manifest = {
    "version": "6.0.0",
    "type": "DeclarativeSource",
    "check": {"type": "CheckStream", "stream_names": ["works"]},
    "concurrency_level": {"type": "ConcurrencyLevel", "default_concurrency": workers, "max_concurrency": workers},
    "streams": [{
        "type": "DeclarativeStream",
        "name": "works",
        "primary_key": "DOI",
        "schema_loader": {"type": "InlineSchemaLoader", "schema": {"type": "object", "additionalProperties": True, "properties": {}}},
        "retriever": {
            "type": "SimpleRetriever",
            "requester": {
                "type": "HttpRequester",
                "url_base": base,
                "path": "/works",
                "http_method": "GET",
                "request_parameters": {
                    "filter": "from-index-date:{{ stream_partition['day'] }},until-index-date:{{ stream_partition['day'] }}",
                    "sort": "indexed",
                    "order": "asc",
                },
            },
            "record_selector": {"type": "RecordSelector", "extractor": {"type": "DpathExtractor", "field_path": ["message", "items"]}},
            "paginator": {
                "type": "DefaultPaginator",
                "page_size_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "rows"},
                "page_token_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "offset"},
                "pagination_strategy": {"type": "OffsetIncrement", "page_size": 1000, "inject_on_first_request": True},
            },
            "partition_router": {
                "type": "ListPartitionRouter",
                "cursor_field": "day",
                "values": [(first + datetime.timedelta(days=n)).isoformat() for n in range(days)],
            },
        },
    }],
    "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": {}}},
}

catalog = {"streams": [{
    "stream": {"name": "works", "json_schema": {}, "supported_sync_modes": ["full_refresh"]},
    "sync_mode": "full_refresh",
    "destination_sync_mode": "append",
}]}
with open("catalog.json", "w") as file:
    json.dump(catalog, file)
with open("config.json", "w") as file:
    json.dump({}, file)

source = ConcurrentDeclarativeSource(catalog=ConfiguredAirbyteCatalogSerializer.load(catalog), config={}, state=None, source_config=manifest)
launch(source, ["read", "--config", "config.json", "--catalog", "catalog.json"])
