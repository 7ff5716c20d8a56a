"""Where in a YAML or JSON text a fault's place stands."""

from __future__ import annotations

import re
from collections.abc import Iterable

import yaml

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: same result, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]  # both compose the same nodes

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def lines_of(text: str, places: Iterable[str]) -> dict[str, int]:
    """The line, counted from 1, of each place such as ``criteria[2].weight`` in a text that parses.

    A place that is not in the text (a missing key) gets the line of the nearest thing around it. Empty when
    the text cannot be read. In "title: A\\ncriteria:\\n- weight: x", criteria[0].weight is on line 3.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return {}
    return {place: _line(root, place) for place in places}


def _line(node: yaml.Node | None, place: str) -> int:
    line = 1
    for index, key in _STEP.findall(place):
        if index and isinstance(node, yaml.SequenceNode) and int(index) < len(node.value):
            node = node.value[int(index)]
        elif key == "criteria" and isinstance(node, yaml.SequenceNode):
            continue  # a bare list of criteria is placed as if it stood under that key
        elif key and isinstance(node, yaml.MappingNode):
            named = next((pair for pair in node.value if pair[0].value == key), None)
            if named is None:
                break
            line, node = named[0].start_mark.line + 1, named[1]
            continue
        else:
            break
        line = node.start_mark.line + 1
    return line
