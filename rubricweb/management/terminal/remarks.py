"""What is said beside results, on standard error; and what keeps a terminal from obeying it."""

import sys

HARMLESS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    **dict.fromkeys(range(0x7F, 0xA0), "\N{REPLACEMENT CHARACTER}"),
}
"""Control characters and what is shown in their place: a terminal obeys them, whoever wrote them."""


def remark(*lines: str) -> None:
    """Lines for people: what was done, or why not. Standard output is kept for results."""
    sys.stderr.write("".join(f"{line.translate(HARMLESS)}\n" for line in lines))
    sys.stderr.flush()
