from itertools import count

from django.db import migrations, transaction
from django.utils.text import slugify
from pydantic import TypeAdapter

from rubricweb.engine.judging.definition import JudgeExample
from rubricweb.models import FewShotSnapshot, JudgeSnapshot, PanelSnapshot
from rubricweb.services.judges.definitions import NAME_MAX, definition_of, usual_name

RUNS_AT_ONCE = 500

_judge, _panel, _few_shot = map(TypeAdapter, (JudgeSnapshot, PanelSnapshot | None, FewShotSnapshot | None))


def make_versions(apps, schema_editor):
    """Every run that asked somebody gets the version of a judge that asks just so.

    One judge for each team, judge or panel, and way of asking; a version for each definition, in the order of
    the runs. By id and in batches: running it again goes on with the runs that have none yet.
    """
    alias = schema_editor.connection.alias
    runs = apps.get_model("rubricweb", "Run").objects.using(alias)
    makers, last = {}, 0
    while True:
        with transaction.atomic(using=alias):
            some = list(runs.filter(pk__gt=last, judge_version=None).order_by("pk")[:RUNS_AT_ONCE])
            if not some:
                return
            last = some[-1].pk
            for run in some:
                definition = _definition(apps, alias, run)
                if definition is not None:
                    maker = makers.setdefault(run.team_id, _Maker(apps, alias, run.team_id))
                    run.judge_version_id = maker.version(definition, run.created_at)
            runs.bulk_update([run for run in some if run.judge_version_id], ["judge_version"], batch_size=100)


def _definition(apps, alias, run):
    """As `definition_of` has it, with examples in words; None where nobody was asked."""
    strict = {"strict": False}
    few_shot = _few_shot.validate_python(run.few_shot, **strict)
    return definition_of(
        _judge.validate_python(run.judge, **strict),
        _panel.validate_python(run.panel, **strict),
        autograder=run.autograder,
        reply_format=run.reply_format,
        examples=_examples(apps, alias, few_shot.examples) if few_shot else (),
    )


def _examples(apps, alias, drawn):
    get = apps.get_model
    items = get("rubricweb", "Item").objects.using(alias).select_related("dataset")
    items = items.in_bulk({one.item for one in drawn})
    criteria = get("rubricweb", "Criterion").objects.using(alias).in_bulk({one.criterion for one in drawn})
    for one in drawn:
        criterion, item = criteria.get(one.criterion), items.get(one.item)
        if criterion is None or (one.words is None and item is None):
            continue  # judges are not shown it any more either
        words = (
            {name: getattr(one.words, name) for name in ("key", "output", "thinking", "query", "reference")}
            if one.words
            else {
                "key": item.key,
                "output": item.submission,
                "thinking": item.thinking,
                "query": item.prompt if item.prompt is not None else item.dataset.prompt,
                "reference": item.reference if item.reference is not None else item.dataset.reference,
            }
        )
        yield JudgeExample(
            uid=criterion.uid, requirement=criterion.requirement, label=one.label, reason=one.reason, **words
        )


class _Maker:
    """Finds or makes the versions of one team."""

    def __init__(self, apps, alias, team):
        self.judges = apps.get_model("rubricweb", "Judge").objects.using(alias)
        self.versions = apps.get_model("rubricweb", "JudgeVersion").objects.using(alias)
        self.team = team
        made = self.versions.filter(judge__team=team)
        self.known = dict(made.values_list("digest", "pk"))
        self.slugs = set(self.judges.filter(team=team).values_list("slug", flat=True))

    def version(self, definition, created_at):
        digest = definition.digest
        if digest not in self.known:
            name = usual_name(definition)
            judge = self.judges.filter(team=self.team, name=name).first()
            judge = judge or self.judges.create(team_id=self.team, name=name, slug=self._slug(name))
            before = self.versions.filter(judge=judge).order_by("-number").first()
            version = self.versions.create(
                judge=judge,
                number=before.number + 1 if before else 1,
                definition=definition.model_dump(mode="json"),
                digest=digest,
                parent=before,
                origin="earlier",
            )
            self.versions.filter(pk=version.pk).update(created_at=created_at)
            self.judges.filter(pk=judge.pk).update(current=version)
            self.known[digest] = version.pk
        return self.known[digest]

    def _slug(self, name):
        word = slugify(name)[: NAME_MAX - 4].strip("-_") or "judge"
        slug = next(one for n in count(1) if (one := word if n == 1 else f"{word}-{n}") not in self.slugs)
        self.slugs.add(slug)
        return slug


class Migration(migrations.Migration):
    # A batch is a transaction: what was done stays when it is cut off.
    atomic = False

    dependencies = [("rubricweb", "0070_judges")]

    operations = [migrations.RunPython(make_versions, migrations.RunPython.noop)]
