"""`rubricweb load-demo`, beside or without a server that runs."""

import pytest

from rubricweb.management import console
from rubricweb.models import Run, Team
from rubricweb.selectors.shared import workers


@pytest.mark.django_db(transaction=True)
def test_the_demo_is_added_where_no_judge_is_set_up(settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    assert console.main(["load-demo"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, str(Team.objects.get()) in shown.err) == ("", True)
    assert f"Start one: {workers.start_command()}" in shown.err
    assert {run.judge.id for run in Run.objects.all()} == {"offline"}
    assert console.main(["load-demo"]) == 0
    assert Team.objects.count() == 1
