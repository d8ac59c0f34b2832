#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks result files against docs/result.schema.json, and that their lines come in order.

usage: validate_results.py [--unfinished] FILE...
--unfinished: the run was killed: the last line may be cut off, and there may be no summary.
Exit status 0: all are valid; 1: one is not; 77: python3-jsonschema is missing."""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result.schema.json"


def line_problem(schema, record):
    """Validates against the schema of the record's kind: its messages name the one real problem."""
    kind = record.get("record") if isinstance(record, dict) else None
    if kind not in schema["properties"]["record"]["enum"]:
        return f"no such record: {kind!r}"
    one = {"$schema": schema["$schema"], "$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(one).iter_errors(record))
    if error is None:
        return None
    place = "/".join(str(part) for part in error.absolute_path)
    return f"{kind}: {place or 'the record'}: {error.message}"


def order_problems(records, unfinished):
    kinds = [record["record"] for record in records]
    if kinds[:1] != ["run"] or kinds.count("run") > 1:
        yield "the first line, and no other, is to be the run record"
    if not unfinished and kinds[-1:] != ["summary"]:
        yield "the last line is no summary"
    open_start = None
    for number, record in enumerate(records, 1):
        key = (record.get("id"), record.get("device"), record.get("repeat_of"))
        if record["record"] == "starting":
            if open_start is not None:
                yield f"line {number}: {open_start[0]} has no result"
            open_start = key
        elif record["record"] in ("evidence", "library_trace"):
            if open_start is not None and open_start[:2] != key[:2]:
                yield f"line {number}: {record['record']} of {key[0]} without its starting record"
            open_start = None
        elif record["record"] == "result":
            if record["worker"] is None:  # skipped without being run
                if open_start is not None or record["status"] != "skipped":
                    yield f"line {number}: {key[0]} has no worker"
            elif key != open_start:
                yield f"line {number}: a result of {key[0]} without its starting record"
            open_start = None
    interrupted = records and records[-1].get("interrupted") is True
    if open_start is not None and not unfinished and not interrupted:
        yield f"{open_start[0]} was started and has no result"


def problems(file, schema, unfinished):
    with open(file, "rb") as stream:
        lines = stream.read().split(b"\n")
    if lines.pop() and not unfinished:
        yield "the last line has no line end"
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line.decode("utf-8"), parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError) as error:
            yield f"line {number}: no JSON: {error}"
            return
        problem = line_problem(schema, record)
        if problem:
            yield f"line {number}: {problem}"
            return
        records.append(record)
    yield from order_problems(records, unfinished)


def main():
    arguments = sys.argv[1:]
    unfinished = "--unfinished" in arguments
    files = [argument for argument in arguments if argument != "--unfinished"]
    if not files:
        sys.exit(__doc__)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    status = 0
    for file in files:
        for problem in problems(file, schema, unfinished):
            print(f"{file}: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
