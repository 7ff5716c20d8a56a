"""What axe finds on the page that is open, in both themes."""

from collections.abc import Iterator
from dataclasses import dataclass

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


@dataclass(frozen=True)
class Fault:
    """One rule of axe that a page breaks in one theme; the beginnings of the elements that break it."""

    scheme: str
    rule: str
    impact: str
    elements: tuple[str, ...]


def faults(page: Page) -> Iterator[Fault]:
    """Every fault of the page as it is now: by all rules in light, then by those of colour in dark.

    What no theme changes need not be looked for twice: that takes a second. Nothing moves meanwhile, or a
    colour would be between two themes when axe looks.
    """
    axe = Axe()
    for scheme, options in (("light", {}), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # of the Literal
        for one in axe.run(page, options={"preload": False, **options}).response["violations"]:
            elements = tuple(node["html"][:200] for node in one["nodes"])
            yield Fault(scheme, one["id"], one["impact"], elements)


def serious_faults(page: Page) -> Iterator[Fault]:
    """Those that keep somebody from using the page."""
    return (one for one in faults(page) if one.impact in ("serious", "critical"))
