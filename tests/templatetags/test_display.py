"""What templates print, and that nobody's text becomes our HTML."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from rubricweb.engine import number_format
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.verdict import Verdict
from rubricweb.selectors.runs.results import VerdictCounts
from rubricweb.templatetags import display, drawings, run_words, texts

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "<svg/onload=alert(1)>",
    '"><script>alert(1)</script>',
    '[x](https://a.example "t\\" onmouseover=alert(1) \\"")',
    "```\n</code></pre><script>alert(1)</script>\n```",
    "<a href='//evil.example' style='position:fixed;inset:0'>all of it</a>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


def holds_no_harm(html: str) -> bool:
    lowered = html.lower()
    return not any(f"<{tag}" in lowered for tag in ("script", "img", "iframe", "style", "object")) and all(
        f'href="{scheme}' not in lowered for scheme in ("javascript", "data", "vbscript")
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.7134, "0.713"), (1, "1.000"), (None, "–"), (float("nan"), "–"), (-0.5, "−0.500"), (-0.0001, "0.000")],
)
def test_a_score_has_three_decimals_and_a_true_minus(value, expected):
    assert display.score(value) == expected


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (209 / 210, 2, ">0.99"),
        (1 / 210, 2, "<0.01"),
        (209 / 210, 3, "0.995"),
        (1, 2, "1.00"),
        (0, 2, "0.00"),
        (0.1 + 0.2 + 0.7, 2, "1.00"),  # 0.9999999999999999
        (1e-17, 2, "0.00"),
        (2.999, 2, "3.00"),
    ],
)
def test_a_number_reaches_0_and_1_only_when_it_is_there(value, digits, expected):
    assert number_format.number(value, digits) == expected


def test_the_ends_of_an_interval_reach_0_and_1_only_when_they_are_there():
    assert number_format.text_of(Figure(209 / 210, 0.9735, 0.9992, 210)) == ">0.99 [0.97, >0.99]"
    assert number_format.text_of(Figure(0.02, 0.0008, 0.05, 210)) == "0.02 [<0.01, 0.05]"
    assert display.percent(0.1 + 0.2 + 0.7) == "100%"


def test_no_p_value_is_nothing():
    assert [number_format.p_text(p) for p in (0.018, 0.00004, None)] == ["0.0180", "< 0.0001", "–"]


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.86, "86%"), (0, "0%"), (1, "100%"), (0.998, ">99%"), (0.002, "<1%"), (None, "–")],
)
def test_a_percentage_reaches_its_ends_only_when_the_share_does(share, expected):
    assert display.percent(share) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(10, "+10"), (-15, "−15"), (0, "0"), (2.5, "+2.5"), (-0.25, "−0.25"), (1000, "+1,000"), (None, "–")],
)
def test_a_weight_always_shows_its_sign(value, expected):
    assert display.signed(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (12.3, "$12.30"),
        (0.0042, "$0.0042"),
        (0.00000123, "$0.0000012"),
        (0, "$0.00"),
        (-2, "−$2.00"),
        (None, "–"),
    ],
)
def test_small_sums_keep_two_significant_digits(value, expected):
    assert display.usd(value) == expected


def test_amounts_that_are_written_in_different_places_are_written_alike():
    # Five cents were "$0.05" on pages, "$0.0500" in commands and in a paused run's reason.
    assert display.usd(0.05) == number_format.money(0.05) == "$0.05"


@pytest.mark.parametrize(
    ("low", "high", "n", "digits"),
    [
        (0.61, 0.74, 177, 2),  # half 0.065
        (0.681, 0.687, 9_000, 3),  # half 0.003
        (0.6812, 0.6814, 10**6, 4),  # half 0.0001
        (0.68121, 0.68122, 10**9, 4),  # never more
        (0.1, 0.9, 11, 2),  # half 0.4, never fewer
        (0.5, 0.52, 300, 2),  # half is 0.01 itself
        (None, None, 11, 2),  # 1/√11 = 0.3
        (None, None, 20_000, 3),  # 1/√20,000 = 0.007
        (0.5, 0.5, 4, 2),  # no width says nothing of precision
        (None, None, None, 3),  # known exactly, as a score
    ],
)
def test_a_figure_has_the_digits_its_interval_allows(low, high, n, digits):
    assert number_format.figure_digits(low, high, n) == digits


def test_an_interval_is_written_one_way():
    kappa = Figure(0.67891, 0.6101, 0.7399, 177)
    assert number_format.text_of(kappa) == "0.68 [0.61, 0.74]"
    assert number_format.text_of(kappa, percent=True) == "68% [61%, 74%]"
    assert number_format.text_of(Figure(-0.0565, -0.1, 0.01, 40), signed=True) == "−0.06 [−0.10, 0.01]"
    assert number_format.value_of(Figure(0.0312, 0.01, 0.05, 40), signed=True) == "+0.03"
    assert number_format.text_of(Figure(None, None, None, 0)) == "–"
    assert number_format.text_of(Figure(1.0, None, None, 1)) == "1.00"


def test_a_figure_on_few_units_is_grey_and_says_why():
    few = SimpleNamespace(value=0.4, low=-0.1, high=0.86, n=9, small=True, reason="needs 10 of each class")
    shown = display.figure(few)
    assert "figure--small" in shown
    assert 'title="needs 10 of each class"' in shown
    assert "(needs 10 of each class)" in shown  # for those who do not hover
    assert "figure--small" not in display.figure(Figure(0.4, -0.1, 0.86, 9))


def test_an_undefined_figure_says_why():
    assert "not defined for these answers" in display.figure(Figure(None, None, None, 5))
    assert "nothing to measure" in display.figure(Figure(None, None, None, 0), look="stacked")
    unpriced = SimpleNamespace(value=None, low=None, high=None, n=3, reason="only one label was used")
    assert "only one label was used" in display.figure(unpriced)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.84, "840 ms"),
        (12.34, "12.3 s"),
        (59.97, "1 min"),
        (90, "1 min 30 s"),
        (7500, "2 h 5 min"),  # 2 × 3600 + 5 × 60
        (273_600, "3 d 4 h"),  # 3 × 86400 + 4 × 3600
        (timedelta(minutes=2), "2 min"),
        (None, "–"),
    ],
)
def test_a_duration_shows_its_two_largest_units(seconds, expected):
    assert display.duration(seconds) == expected


def test_a_figure_shows_its_interval_and_none_when_it_has_none():
    assert "0.68" in display.figure(0.68, 0.61, 0.74)
    assert "[0.61, 0.74]" in display.figure(Figure(0.68, 0.61, 0.74, n=42))
    assert "[" not in display.figure(Figure(1.0, None, None, n=1))
    assert display.MISSING in display.figure(Figure(None, None, None, n=0))


@pytest.mark.parametrize(
    ("value", "low", "expected"),
    [
        (0, 0, "heat-0"),
        (0.5, 0, "heat-4"),  # floor(0.5 × 9) = 4
        (1, 0, "heat-9"),
        (0, -1, "heat-4"),  # half-way from −1 to 1
        (-0.3, 0, "heat-0"),
        (None, 0, "heat-none"),
    ],
)
def test_heat_runs_from_low_to_one_in_ten_steps(value, low, expected):
    assert display.heat(value, low) == expected


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (Verdict.MET, "Met"),
        ("UNMET", "Unmet"),
        ("CANNOT_ASSESS", "Cannot assess"),
        ("ERROR", "Error"),
        (None, "Pending"),
    ],
)
def test_a_verdict_says_its_word_beside_its_glyph(verdict, word):
    html = display.verdict_chip(verdict)
    assert f">{word}<" in html.replace("</svg>", "</svg>>")
    assert "<svg" in html


@pytest.mark.parametrize(
    ("verdict", "weight", "word", "look", "glyph"),
    [
        ("MET", 5, "Met", "helped", "check"),
        ("UNMET", 5, "Unmet", "hurt", "x"),
        ("MET", -5, "Error present", "hurt", "x"),
        ("UNMET", -5, "Error absent", "helped", "check"),
        ("CANNOT_ASSESS", -5, "Cannot assess", "cannot", "minus"),
        ("MET", 0, "Met", "cannot", "circle-dot"),  # moves no score
    ],
)
def test_colour_and_glyph_of_a_verdict_say_what_it_did_to_the_score(verdict, weight, word, look, glyph):
    html = display.verdict_chip(verdict, weight=weight)
    assert f"chip--{look}" in html
    assert f"#{glyph}" in html
    assert html.endswith(f">{word}</span>")


def test_chips_escape_what_they_are_given():
    for html in (
        display.verdict_chip("MET", label=HOSTILE[0], title=HOSTILE[6]),
        display.role_chip(HOSTILE[0]),
        display.state_chip(HOSTILE[0]),
        display.icon("check", label=HOSTILE[6]),
    ):
        assert "<script" not in html


def test_a_role_is_named_from_its_number():
    assert "owner" in display.role_chip(50)


def test_time_is_relative_with_the_absolute_on_hover():
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    three_hours_ago = now - timedelta(hours=3, minutes=20)
    html = display.relative_time(three_hours_ago, now)
    assert ">3 h ago<" in html
    assert 'title="20 Nov 2026, 08:40 UTC"' in html
    assert 'datetime="2026-11-20T08:40:00+00:00"' in html
    assert ">20 Aug 2026<" in display.relative_time(datetime(2026, 8, 20, tzinfo=UTC), now)
    assert display.relative_time(None) == "–"


def test_the_query_string_keeps_what_is_not_replaced():
    request = RequestFactory().get("/", {"state": "open", "q": "a&b", "cursor": "x"})
    html = Template("{% query_replace sort='-score' cursor=None %}").render(Context({"request": request}))
    assert html == "?state=open&amp;q=a%26b&amp;sort=-score"


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_from_strangers_carries_no_code_and_no_pictures(text):
    assert holds_no_harm(texts.markdown(text))
    assert holds_no_harm(texts.body(text))
    assert holds_no_harm(texts.body([{"role": text, "content": text, "name": text, "tool_calls": [text]}]))
    assert holds_no_harm(texts.body({text: text}))


def test_markdown_keeps_structure_and_marks_links():
    html = texts.markdown("# Plan\n\n- **one**\n\n[site](https://a.example)")
    assert "<h3>Plan</h3>" in html
    assert "<strong>one</strong>" in html
    assert 'rel="nofollow noopener noreferrer"' in html


PLAIN = "Shown as plain text"


def test_what_markdown_costs_is_told_from_its_characters_marks_lines_and_cells():
    # 13 characters, 6 marks at 8, and 3 lines with 1 + 3 cells each, a row that is not written too, at 30.
    assert texts.markdown_cost("|a|b|\n|-|-|\nx") == 13 + 6 * 8 + 3 * 4 * 30
    # The empty line ends the table: 5 lines, of which 2 have 1 + 2 cells. "\r" is a line too.
    assert texts.markdown_cost("|a|\n|-|\n\nx\ry") == 12 + 4 * 8 + (5 + 2 * 2) * 30


@pytest.mark.parametrize("part", ["word ", "*a* ", "[", "- a\n", "a\r", "a\n\n"])
def test_a_text_that_costs_more_than_the_budget_is_shown_plain_and_whole(part):
    most = texts.MARKDOWN_BUDGET // texts.markdown_cost(part)
    few, many = part * (most // 2), part * (texts.MARKDOWN_BUDGET // len(part) + 1)
    assert PLAIN not in texts.markdown(few)
    html = texts.markdown(many)
    assert html.count(PLAIN) == 1
    assert html.endswith(f'<pre class="code">{many}</pre>')


def test_a_table_is_counted_with_the_cells_it_does_not_write():
    columns, rows = 100, 100  # 10,000 cells at 30 are 300,000
    text = "|a" * columns + "|\n" + "|-" * columns + "|\n" + "x\n" * rows
    assert len(text) < 1000
    assert PLAIN in texts.markdown(text)
    assert "<table>" in texts.markdown("|a|b|\n|-|-|\n|1|2|")


def test_the_turns_of_a_page_share_one_budget_and_a_short_one_is_still_laid_out():
    long = "word " * (texts.MARKDOWN_BUDGET // 8)  # five eighths: one fits, two do not
    turns = [{"role": "user", "content": text} for text in (long, f"{long}<", "*short*")]
    with texts.one_markdown_budget():
        html = texts.body(turns, "prompt")
        assert PLAIN in texts.markdown(long)
    assert html.count(PLAIN) == 1
    assert f'</p><div data-field="prompt[1]" dir="auto"><pre class="code">{long}&lt;</pre></div>' in html
    assert "<em>short</em>" in html
    assert PLAIN not in texts.body(turns[0:1])


def test_a_chat_is_shown_turn_by_turn_from_a_list_or_its_json():
    chat = '[{"role": "user", "content": "Hello *you*"}, {"role": "assistant", "content": null}]'
    html = texts.body(chat)
    assert 'class="chat__turn chat__turn--user"' in html
    assert "<em>you</em>" in html
    assert html.count("chat__role") == 2


def test_parts_of_a_turn_that_are_not_text_are_named_not_fetched():
    html = texts.body([{"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "image_url"}]}])
    assert "See" in html
    assert "[image_url: not shown]" in html


def test_json_is_code_and_what_only_looks_like_json_is_prose():
    assert texts.body('{"a": 1}').startswith('<pre class="code">')
    assert texts.body("[see below]").startswith('<div class="prose">')
    assert "Empty." in texts.body("")
    assert "chat" not in texts.body("[1, 2]")


def test_deeply_nested_json_is_still_shown():
    assert texts.body("[" * 5000 + "]" * 5000)


@pytest.mark.parametrize(
    "drawing",
    [
        drawings.interval_svg(0.61, 0.68, 0.74, label="κ <C1>", mark=0.8),
        drawings.interval_svg(-3, 0.5, 7),
        drawings.bar_svg(0.79, second=0.91, label="C1 & C2"),
        drawings.bar_svg(None),
        drawings.segments_svg([("Met <b>", 3, "met"), ("Unmet", 0, "unmet"), ("Error", 1, "error")]),
        drawings.segments_svg([]),
        drawings.histogram_svg([(0.0, 0.5, 3), (0.5, 1.0, 1)], label='Scores "x"'),
        drawings.spark_svg([0.1, None, 0.9], label="<trend>"),
    ],
)
def test_a_drawing_is_well_formed_named_and_inside_its_frame(drawing):
    root = ElementTree.fromstring(drawing)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    for element in root.iter():
        for name in ("x", "width", "cx", "x1", "x2"):
            number = element.get(name, "0").removesuffix("%")
            assert 0 <= float(number) <= 100


def test_an_interval_stands_where_its_numbers_say():
    root = ElementTree.fromstring(drawings.interval_svg(0.25, 0.5, 1.0, minimum=0, maximum=1))
    span = root.find("rect[@class='interval__span']")
    assert span is not None
    assert (span.get("x"), span.get("width")) == ("25%", "75%")
    assert root.get("aria-label") == "0.50 [0.25, 1.00]"


def test_segments_share_the_bar_in_proportion_to_their_counts():
    root = ElementTree.fromstring(drawings.segments_svg([("Met", 3, "met"), ("Unmet", 1, "unmet")]))
    assert [rect.get("width") for rect in root.iter("rect")] == ["75%", "25%"]
    assert root.get("aria-label") == "Met 3, Unmet 1"


def test_the_verdicts_on_an_item_are_those_there_are_whichever_comes_first():
    assert run_words.counts_words(VerdictCounts(met=2, helped=1, hurt=1, chosen=1, errors=1)) == (
        "1 earned points · 1 lost them · 1 chosen"
    )
    assert run_words.counts_words(VerdictCounts(unmet=2)) == "2 moved nothing"
    assert run_words.counts_words(VerdictCounts(chosen=1, cannot_assess=3)) == "1 chosen · 3 cannot assess"
    assert run_words.counts_words(VerdictCounts(errors=4)) == ""


def test_missing_values_are_a_dash_not_a_drawing():
    assert "<svg" not in drawings.interval_svg(None, None, None)
    assert "<svg" not in drawings.spark_svg([None])
    assert "No scores yet" in drawings.histogram_svg([])
