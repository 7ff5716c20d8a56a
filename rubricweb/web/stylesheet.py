"""One stylesheet out of the many files it is written in, joined when static files are collected.

`css/app.css` names the files and their layers, one `@import url("…") layer(…);` a line. While developing
(DEBUG) browsers follow those imports themselves, so that a change shows at the next reload. Elsewhere every
import would cost each cold page a request: here they are replaced by what they name.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

ENTRY = "css/app.css"
"""The one stylesheet that pages name."""

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ENTRY_LINE = re.compile(
    r"""\s*(?:@layer [\w, -]+;|@import url\("(?P<file>[^"]+)"\) layer\((?P<layer>\w+)\);)"""
)
_NOT_IN_A_LAYER = re.compile(r"@(?:import|charset|namespace)\b")
_URL = re.compile(r"""url\(\s*(?P<quote>["']?)(?P<address>[^"')]+)(?P=quote)\s*\)""")
_IMPORT = (r"""(?P<matched>\b(?P<word>from|import) "(?P<url>\.{1,2}/[^"]+)";)""", '%(word)s "%(url)s";')
_ABSOLUTE = re.compile(r"/|#|[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def joined(entry: str, read: Callable[[str], str]) -> str:
    """The text of `entry` with each file it imports in its place, wrapped in its layer.

    `read` gives a file's text by its path below the static root. Raises ValueError, with the path, for
    anything in `entry` besides comments, `@layer` statements and imports into a layer, and for an imported
    file with an `@import`, `@charset` or `@namespace` of its own, which a layer must not hold.
    """
    parts, rest = [], _COMMENT.sub("", read(entry)).rstrip()
    while rest:
        line = _ENTRY_LINE.match(rest)
        if line is None:
            found = rest.strip().splitlines()[0]
            raise ValueError(f'{entry}: {found!r}; allowed are @layer …; and @import url("…") layer(…);')
        rest = rest[line.end() :]
        if line["file"] is None:
            parts.append(line[0].strip())
            continue
        name = _resolved(line["file"], entry)
        text = read(name)
        if wrong := _NOT_IN_A_LAYER.search(_COMMENT.sub("", text)):
            raise ValueError(f"{name}: {wrong[0]} may not stand in a layer; import the file in {entry}")
        parts.append(f"/* {name} */\n@layer {line['layer']} {{\n{_moved(text, name, entry)}\n}}")
    return "\n".join(parts) + "\n"


def _moved(text: str, name: str, to: str) -> str:
    """`text` of the file `name` with the relative addresses in it as they are seen from the file `to`."""

    def readdressed(match: re.Match[str]) -> str:
        if _ABSOLUTE.match(match["address"]):
            return match[0]
        address = posixpath.relpath(_resolved(match["address"], name), posixpath.dirname(to))
        return f"url({match['quote']}{address}{match['quote']})"

    return _URL.sub(readdressed, text)


def _resolved(address: str, seen_from: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(seen_from), address))


class JoinsTheStylesheet:
    """For storages that hash names: hashes and serves the joined stylesheet under the name of its entry.

    What our own scripts import gets its hashed name in them as well. Django's switch for it follows imports
    in the scripts of packages too, some of which name no file.
    """

    patterns = (*ManifestStaticFilesStorage.patterns, ("js/*.js", (_IMPORT,)))

    def post_process(
        self, paths: Mapping[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        def read(name: str) -> str:
            storage, path = paths[name]
            with storage.open(path) as file:
                return str(file.read().decode())

        whole = InMemoryStorage()
        whole.save(ENTRY, ContentFile(joined(ENTRY, read).encode()))
        paths = {**paths, ENTRY: (whole, ENTRY)}
        yield from super().post_process(paths, dry_run=dry_run, **options)  # type: ignore[misc]  # the storage's


class HashedFiles(JoinsTheStylesheet, ManifestStaticFilesStorage):  # type: ignore[misc]  # as Django's own
    """One machine: hashed names; compressing (half a minute at first start) would save nothing."""


class HashedCompressedFiles(JoinsTheStylesheet, CompressedManifestStaticFilesStorage):
    """Everywhere else: hashed names, and each file also as gzip and Brotli."""
