"""What browsers load: each source of the stylesheet once, in order, in its layer; scripts by hashed names."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

from rubricweb.web.stylesheet import joined

SOURCES = Path(__file__).resolve().parents[2] / "static"


@pytest.fixture(params=["HashedFiles", "HashedCompressedFiles"])
def collected(request: pytest.FixtureRequest, settings: Any, tmp_path: Path) -> Path:
    """The one stylesheet after `collectstatic` as `rubricweb serve` and the container store it."""
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["css", "js", "svg", "woff2", "md", "txt"]  # saves seconds
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": f"rubricweb.web.stylesheet.{request.param}"},
    }
    call_command("collectstatic", verbosity=0, interactive=False)
    return tmp_path / staticfiles_storage.stored_name("css/app.css")


def test_every_source_is_in_the_stylesheet_once_and_in_the_order_that_app_css_names(collected: Path) -> None:
    named = re.findall(r'@import url\("([^"]+)"\) layer\((\w+)\)', (SOURCES / "css/app.css").read_text())
    ours = [file for file, _ in named if not file.startswith("../vendor/")]
    files = {str(one.relative_to(SOURCES / "css")) for one in SOURCES.glob("css/**/*.css")} - {"app.css"}
    assert (set(ours), len(ours)) == (files, len(files))

    text = collected.read_text()
    assert re.search(r"\.[0-9a-f]{12}\.css$", collected.name)  # hashed, so it may be kept for ever
    assert "@import" not in text
    assert re.findall(r"^/\* css/(\S+\.css) \*/$", text, re.MULTILINE) == ours
    at = 0
    for file, layer in named:
        body = re.sub(r"url\(.*?\)", "", (SOURCES / "css" / file).read_text())
        whole = re.sub(r"url\(.*?\)", "", text)
        assert whole.count(body) == 1, file
        assert (at := whole.index(f"@layer {layer} {{\n{body}", at)), file


def test_every_address_in_the_stylesheet_leads_to_a_hashed_file(collected: Path) -> None:
    addresses = re.findall(r'url\("([^"]+)"\)', collected.read_text())
    # Five faces: Inter upright, italic and greek, JetBrains Mono latin and greek.
    assert len(addresses) == 5
    for address in addresses:
        assert re.search(r"\.[0-9a-f]{12}\.woff2$", address)
        assert (collected.parent / address).is_file()


def test_every_import_in_a_script_leads_to_a_hashed_file(collected: Path) -> None:
    root = collected.parents[1]
    for source in SOURCES.glob("js/**/*.js"):
        name = str(source.relative_to(SOURCES))
        hashed = staticfiles_storage.stored_name(name)
        imported, found = (
            re.findall(r'^import[^"]*"([^"]+)";$', file.read_text(), re.MULTILINE)
            for file in (source, root / hashed)
        )
        assert len(found) == len(imported), name
        for address in found:
            assert re.search(r"\.[0-9a-f]{12}\.js$", address), name
            assert ((root / hashed).parent / address).is_file(), name


def test_addresses_are_seen_from_where_the_joined_file_lies() -> None:
    files = {
        "css/app.css": '/* all */ @layer base;\n@import url("parts/x.css") layer(base);',
        "css/parts/x.css": "a { b: url(../../img/x.svg) url('y.svg') url(data:image/png;base64,A) url(#z) }",
    }
    assert joined("css/app.css", files.__getitem__) == (
        "@layer base;\n/* css/parts/x.css */\n@layer base {\n"
        "a { b: url(../img/x.svg) url('parts/y.svg') url(data:image/png;base64,A) url(#z) }\n}\n"
    )


@pytest.mark.parametrize(
    ("app", "part", "words"),
    [
        ("body { margin: 0 }", "", "css/app.css: 'body { margin: 0 }'; allowed are @layer"),
        ('@import url("x.css");', "", "allowed are @layer"),  # stronger than all layers
        ('@import url("x.css") layer(base);', '@import "y.css";', "css/x.css: @import may not"),
    ],
)
def test_what_a_layer_cannot_hold_is_refused_by_its_file(app: str, part: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        joined("css/app.css", {"css/app.css": app, "css/x.css": part}.__getitem__)
