"""Pages of judges and models in a real browser: by mouse on a wide screen, by keyboard on a phone.

Each walk looks at every page on its way: axe in both themes, nothing wider than the screen, no error in the
console.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from rubricweb.judges.discovery.providers import PROVIDERS, Provider
from rubricweb.models import JudgeVersion, Run
from rubricweb.services.endpoints import discovery, endpoints
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.browser.conftest import Open
from tests.browser.faults import faults
from tests.factories import Cast
from tests.judges.client.model_server import LITELLM_WITHOUT, llama_cpp, models, server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.django_db(transaction=True)]

KEY = "sk-of-the-proxy"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
CLICKS = """addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true)"""


class Mouse:
    """A hand on a mouse."""

    def click(self, control: Locator) -> None:
        control.click()

    def write(self, control: Locator, text: str) -> None:
        control.click()
        control.fill(text)

    def choose(self, control: Locator, label: str) -> None:
        control.select_option(label=label)


# Whether what has the focus is seen, asked when it gets it: what a page loads afterwards may move it.
SEEN = """(element) => {
    if (element !== document.activeElement) return null;
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
}"""


class Keyboard(Mouse):
    """Hands on the keyboard alone: Tab to get there, Enter to press, letters to write and to choose."""

    def click(self, control: Locator) -> None:
        self._reach(control)
        control.page.keyboard.press("Enter")

    def write(self, control: Locator, text: str) -> None:
        self._reach(control)
        control.page.keyboard.press("ControlOrMeta+a")
        control.page.keyboard.type(text)

    def choose(self, control: Locator, label: str) -> None:
        self._reach(control)
        control.page.keyboard.type(label)

    def _reach(self, control: Locator) -> None:
        """Presses Tab until the control has the focus, and sees that it is not hidden then."""
        expect(control).to_have_count(1)
        page = control.page
        for _ in range(150):
            seen = control.evaluate(SEEN)
            if seen is not None:
                assert seen, f"{control} has the focus where nobody sees it"
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{control} is not within 150 presses of Tab")


@dataclass
class Visit:
    """A window that is walked through, and everything that was wrong on the way."""

    page: Page
    hand: Mouse
    wrong: list[Any] = field(default_factory=list)

    def look(self, heading: str) -> None:
        """Looks at the page that is open, once its heading is there."""
        page = self.page
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        page.wait_for_load_state("networkidle")
        self.wrong += [(page.url, one.scheme, one.rule, one.elements) for one in faults(page)]
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            self.wrong.append((page.url, "wider than the screen"))

    def link(self, name: str) -> None:
        self.hand.click(self.page.get_by_role("main").get_by_role("link", name=name, exact=True))

    def button(self, name: str) -> None:
        self.hand.click(self.page.get_by_role("main").get_by_role("button", name=name, exact=True))

    def is_told(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    monkeypatch.setattr(discovery, "LOCAL_PORTS", {})
    for provider in PROVIDERS:
        monkeypatch.delenv(provider.environment, raising=False)


@pytest.fixture
def run(people: Cast) -> Run:
    """A run that has ended, by a model that somebody picked, which made the first version of a judge."""
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="gpt-5-mini", base_url="http://127.0.0.1:9/v1", model="m"
    )
    made = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name="Replies"),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=row.judge_id,
    )
    lifecycle.cancel_run(made, by=people.ed, now=timezone.now())
    return made


@pytest.fixture(params=["mouse", "keyboard"])
def visit(request: pytest.FixtureRequest, page: Page, violations: list[str]) -> Iterator[Visit]:
    page.set_viewport_size(WIDE if request.param == "mouse" else PHONE)  # type: ignore[arg-type]  # ViewportSize is a TypedDict
    page.emulate_media(reduced_motion="reduce")

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error":
            violations.append(message.text)

    page.on("console", listen)
    visit = Visit(page, Mouse() if request.param == "mouse" else Keyboard())
    yield visit
    assert visit.wrong == []
    assert violations == []


def test_a_judge_is_worded_compared_noted_archived_and_restored(
    people: Cast, run: Run, open_as: Open, visit: Visit
) -> None:
    assert isinstance(run.judge_version, JudgeVersion)
    judge, page = run.judge_version.judge, visit.page
    open_as(people.alice, f"/t/{people.team.slug}/judges/")
    visit.look("Judges")
    visit.link(judge.name)
    visit.look(judge.name)
    visit.link("Edit")
    visit.look(f"Edit {judge.name}")
    visit.hand.write(page.get_by_label("Instructions without options"), "{{frame}}\n\nBe strict.")
    visit.hand.write(page.get_by_role("textbox", name="Note"), "Stricter.")
    visit.button("Keep as v2")
    visit.is_told("is kept, and is the current version")
    visit.look(judge.name)
    visit.link("Compare versions")
    visit.look("v1 → v2")
    visit.is_told("Be strict.")
    visit.hand.choose(page.get_by_role("combobox", name="To"), "v1")
    visit.button("Compare")
    visit.is_told("Nothing differs.")
    page.go_back()
    page.go_back()
    visit.hand.click(page.locator("#name > summary"))
    visit.hand.write(page.get_by_role("textbox", name="Note"), "For support.")
    visit.button("Save")
    visit.is_told("Changed.")
    visit.button("Make v1 current")
    visit.is_told("is the current version now")
    visit.button("Archive")
    visit.is_told("· archived")
    visit.look(judge.name)
    open_as(people.alice, f"/t/{people.team.slug}/judges/")
    visit.look("Judges")  # with none
    visit.link("Archived (1)")
    visit.look("Judges")
    visit.link(judge.name)
    visit.button("Restore")
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    judge.refresh_from_db()
    assert (judge.note, judge.archived_at, judge.current.number) == ("For support.", None, 1)


def test_models_are_found_added_listed_archived_and_restored(
    people: Cast, run: Run, open_as: Open, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, address = visit.page, f"/t/{people.team.slug}/settings/judges/"
    open_as(people.alice, address)
    visit.is_told("No model answers on this machine")
    visit.look("Models")
    many = models(*(f"qwen2.5:{size}b-instruct-q4_K_M" for size in range(14)))
    file = llama_cpp("/home/ana/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf")
    proxy = models("mock-judge", "other-judge", owner="openai")
    with (
        server(many) as (ollama, _),
        server(file) as (llama, _),
        server(proxy, key=KEY, refusal=LITELLM_WITHOUT) as (litellm, _),
        server(models("hosted-judge"), key=KEY) as (provider, _),
    ):
        ours = Provider("ours", "Ours", f"http://127.0.0.1:{provider}/v1", "OUR_KEY_OF_A_TEST")
        monkeypatch.setattr(discovery, "PROVIDERS", (ours,))
        monkeypatch.setenv(ours.environment, KEY)
        monkeypatch.setattr(
            discovery, "LOCAL_PORTS", {ollama: "Ollama", llama: "llama.cpp", litellm: "LiteLLM"}
        )
        open_as(people.alice, address)
        visit.is_told("Found here")
        visit.hand.click(page.get_by_label("Model at Ours"))
        visit.is_told("1 model to choose from: hosted-judge")
        visit.look("Models")
        visit.button("Add /home/ana/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf")
        visit.is_told("Qwen2.5-7B-Instruct-Q4_K_M can be asked now")
        visit.is_told("Found here")
        visit.look("Models")
        visit.link("Add with its key")
        visit.look("Add a model")
        visit.hand.write(page.get_by_label("API key"), KEY)
        visit.hand.click(page.get_by_role("combobox", name="Model", exact=True))
        visit.is_told("2 models to choose from")
        options = page.locator("#listed-models option")
        assert [one.get_attribute("value") for one in options.all()] == ["mock-judge", "other-judge"]
        visit.look("Add a model")
        visit.hand.write(page.get_by_role("combobox", name="Model", exact=True), "mock-judge")
        visit.hand.write(page.get_by_label("Name", exact=True), "Proxy")
        visit.button("Add model")
        visit.is_told("Proxy can be asked now")
        visit.is_told("Found here")
        page.wait_for_load_state("networkidle")
        visit.link("Proxy")
        visit.look("Proxy")
        visit.button("Archive")
        visit.is_told("Found here")
        visit.link("Archived (1)")
        visit.look("Models")
        visit.button("Restore Proxy")
        visit.is_told("Found here")
    assert {row.name for row in endpoints.endpoints_of(people.team)} == {
        "gpt-5-mini",
        "Proxy",
        "Qwen2.5-7B-Instruct-Q4_K_M",
    }


def test_a_model_that_is_found_grades_after_three_clicks(
    people: Cast, run: Run, open_as: Open, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit.page
    page.add_init_script(CLICKS)
    with server(llama_cpp("tiny.gguf")) as (port, _):
        monkeypatch.setattr(discovery, "LOCAL_PORTS", {port: "llama.cpp"})
        open_as(people.alice, f"/t/{people.team.slug}/settings/judges/")
        visit.is_told("Found here")
        visit.button("Add tiny.gguf")
        visit.is_told("tiny can be asked now")
        page.wait_for_load_state("networkidle")
        visit.link("Grade with it")
        visit.look("New run")
        visit.button("Start run")
        visit.is_told("has started.")
    assert page.evaluate("sessionStorage.clicks") == "3"  # Enter on a control is one too
    started = people.team.runs.latest("pk")
    assert (started.judge.name, started.dataset, started.rubric_version) == (
        "tiny",
        run.dataset,
        run.rubric_version,
    )
    assert started.budget_usd is None  # it costs nothing, so that nothing has to be said about a cap
