"""What texts and files take to read or to refuse: `python -m benchmarks.reading [MB …]`.

Prints first the CPU seconds of laying out hostile Markdown that uses up the budget of a request, the worst
last (`python -m benchmarks.reading 0` prints that alone). Then CPU seconds and the largest memory for usual
and for hostile files of 1, 10 and 50 MB, as a table for docs/formats.md. They are read as an upload is: in a
process of its own with a limit on both.
"""

import io
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.limited_reading import read_limited

MB = 1_000_000


def usual_json(size: int) -> bytes:
    row = {"id": "item", "submission": "The capital of France is Paris. " * 30}
    each = len(json.dumps(row))
    return json.dumps([{**row, "id": f"i{n}"} for n in range(size // each)]).encode()


def usual_jsonl(size: int) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in json.loads(usual_json(size)))


def usual_csv(size: int) -> bytes:
    rows = json.loads(usual_json(size))
    return ("id,submission\n" + "".join(f"{row['id']},{row['submission']}\n" for row in rows)).encode()


def usual_yaml(size: int) -> bytes:
    rows = json.loads(usual_json(size))
    return "".join(f"- id: {row['id']}\n  submission: {row['submission']}\n" for row in rows).encode()


def usual_parquet(size: int) -> bytes:
    import pyarrow  # type: ignore[import-untyped]  # it ships no types
    import pyarrow.parquet  # type: ignore[import-untyped]  # it ships no types

    rows = json.loads(usual_json(size))
    for number, row in enumerate(rows):
        row["submission"] = f"{number} " + " ".join(str((number * 7919 + k) ** 3) for k in range(60))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out, compression="none")
    return out.getvalue()


def repeated(start: bytes, part: bytes, end: bytes) -> Callable[[int], bytes]:
    return lambda size: start + part * ((size - len(start) - len(end)) // len(part)) + end


FILES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "JSON, usual": ("a.json", usual_json),
    "JSON, empty objects": ("a.json", repeated(b"[{}", b",{}", b"]")),
    "JSON, nested lists": ("a.json", repeated(b'[{"submission": "x", "meta": [0', b",[[1]]", b"]}]")),
    "JSON, short items": ("a.json", repeated(b'[{"submission":"x"}', b',{"submission":"x"}', b"]")),
    "JSONL, usual": ("a.jsonl", usual_jsonl),
    "JSONL, empty objects": ("a.jsonl", repeated(b"", b"{}\n", b"")),
    "JSONL, faulty lines": ("a.jsonl", repeated(b"", b"{\n", b"")),
    "CSV, usual": ("a.csv", usual_csv),
    "CSV, short rows": ("a.csv", repeated(b"id,submission\n", b",x\n", b"")),
    "CSV, faulty rows": ("a.csv", repeated(b"id,submission\n", b"x\n", b"")),
    "CSV, many columns": ("a.csv", repeated(b"submission", b",c", b"\n")),
    "YAML, usual": ("a.yaml", usual_yaml),
    "YAML, short values": ("a.yaml", repeated(b"[a", b",a", b"]")),
    "YAML, short items": ("a.yaml", repeated(b"", b"- {submission: x}\n", b"")),
    "YAML, comments": ("a.yaml", repeated(b"", b"#\n", b"a")),
    "YAML, one text": ("a.yaml", repeated(b"- submission: |\n", b"    words\n", b"")),
    "Parquet, usual": ("a.parquet", usual_parquet),
}


def table(columns: int, rows: int, row: str = "|") -> str:
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + f"{row}\n" * rows


def repeated_text(part: str) -> Callable[[int], str]:
    return lambda size: part * size


REPEATED = (
    *("word ", "a\n", "a\n\n", "a\r", "- a\n", "+ a\n", "1. a\n", "# a\n", "> a\n", "a\n-\n", "---\n"),
    *("    a\n\n", "[", "](", "[a](b)", "![a](b)", "[a]: b\n", "<a:b>", "&amp;", "*a ", "*a*", "_a_", "`a"),
    *("~~a~~", "\\", "\\*", ":", "\"'", "{", "http://a ", "-"),
)
MARKDOWN: dict[str, Callable[[int], str]] = {
    "wide table, short rows": lambda size: table(size, size),
    "table of two columns": lambda size: table(2, size),
    "full table": lambda size: table(9, size, "|a" * 9),
    **{repr(part): repeated_text(part) for part in REPEATED},
}


def measure_markdown() -> None:
    """One row for each hostile text, of the largest size that is still laid out; slowest last."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    os.environ.setdefault("RUBRICWEB_LOCAL", "1")
    import django

    django.setup()
    from rubricweb.templatetags import texts

    found = []
    for name, make in MARKDOWN.items():
        size, step = 0, 1 << 18
        while step := step // 2:
            if texts.markdown_cost(make(size + step)) <= texts.MARKDOWN_BUDGET:
                size += step
        text = make(size)
        start = time.process_time()
        html = texts.markdown(text)
        found.append((time.process_time() - start, f"{name} | {len(text):,} | {len(html):,}"))
    print("| Markdown | characters | of HTML | CPU seconds |\n| --- | ---: | ---: | ---: |")
    for took, row in sorted(found):
        print(f"| {row} | {took:.2f} |")


def measure(name: str, size: int, answer: "multiprocessing.Queue[tuple[float, float, str]]") -> None:
    """Reads one file from this process, which is there for that alone: its only child is the reader."""

    filename, make = FILES[name]
    data = make(size)
    try:
        said = f"{len(read_limited(read_dataset, data, filename=filename, read_here_bytes=0).items):,} items"
    except InvalidFile as error:
        said = "refused: " + error.faults[0].found[:60]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer.put((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said))


def main(sizes: list[int]) -> None:
    """Prints the table, row by row."""
    if not sizes:
        return
    spawn = multiprocessing.get_context("spawn")
    print("| file | MB | CPU seconds | memory MB | |\n| --- | ---: | ---: | ---: | --- |")
    for name in FILES:
        for size in sizes:
            answer = spawn.Queue()
            process = spawn.Process(target=measure, args=(name, size * MB, answer))
            process.start()
            took, memory, said = answer.get()
            process.join()
            print(f"| {name} | {size} | {took:.1f} | {memory:,.0f} | {said} |", flush=True)


if __name__ == "__main__":
    measure_markdown()
    main([size for one in sys.argv[1:] if (size := int(one))] if sys.argv[1:] else [1, 10, 50])
