"""Checks every golden *.json against the schema, and the three sums the schema can only describe in words."""
import glob
import json
import math
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)


def check_sums(report):
    rows = sum(row["ticks"] for row in report["rows"])
    assert rows + report["hidden_ticks"] + report.get("filtered_ticks", 0) == report["ticks"]
    assert report["ticks"] == sum(report[key] for key in ("counted", "outside", "full", "lost"))
    assert (report["sampled_s"] is None) == ("event" in report)
    if "event" in report:
        assert report["sampled_events"] + report["lost_events"] == report["ticks"] * report["period_events"]
    elif report["cpu_s"] is not None:
        parts = report["sampled_s"] + report["lost_s"] + report["unsampled_s"]
        assert math.isclose(parts, report["cpu_s"], abs_tol=1e-9)


def main(schema_path, directory):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    paths = sorted(glob.glob(directory + "/*.json"))
    assert paths, "no golden JSON files"
    for path in paths:
        print(path)
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        jsonschema.Draft202012Validator(schema).validate(report)
        check_sums(report)


main(*sys.argv[1:])
