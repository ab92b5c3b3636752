"""Loads the tables of this folder as lists of dictionaries; python3 load.py prints how many rows each has."""
import csv
import datetime
import hashlib
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))

TABLES = {
#TABLES#
}


def unescape(text):
    """Takes away the apostrophe that keeps spreadsheets from running a cell."""
    if text.startswith("'") and text.lstrip("'")[:1] in tuple("=+-@\t\r"):
        return text[1:]
    return text


def parse_instant(text):
    return datetime.datetime.strptime(text.replace("Z", "+00:00"), "%Y-%m-%dT%H:%M:%S.%f%z")


PARSERS = {
    "string": unescape,
    "integer": int,
    "number": float,
    "boolean": lambda text: text == "1",
    "date": datetime.date.fromisoformat,
    "datetime": parse_instant,
}


def load_table(name):
    """Returns the rows of a table; an empty cell is None."""
    types = TABLES[name]
    with open(os.path.join(FOLDER, name + ".csv"), newline="", encoding="utf-8") as file:
        return [
            {field: PARSERS[types[field]](text) if text else None for field, text in row.items()}
            for row in csv.DictReader(file)
        ]


def load_all():
    return {name: load_table(name) for name in TABLES}


def check_files():
    """Compares the files with the manifest."""
    with open(os.path.join(FOLDER, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for entry in manifest["files"]:
        sum = hashlib.sha256()
        with open(os.path.join(FOLDER, entry["name"]), "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                sum.update(block)
        if sum.hexdigest() != entry["sha256"]:
            sys.exit(entry["name"] + " is not as it was exported")


if __name__ == "__main__":
    check_files()
    for name in TABLES:
        print(name, len(load_table(name)))
