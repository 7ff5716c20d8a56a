"""Pages of a team, room by room."""

from django.urls import URLPattern, path

from rubricweb.web import (
    comparison,
    dashboard,
    datasets,
    exports,
    reviews,
    rubric_editor,
    rubrics,
    run_diff,
    runs,
    teams,
)

team_urls: list[URLPattern] = [
    path("", dashboard.dashboard, name="dashboard"),
    # Rubrics
    path("rubrics/", rubrics.rubrics, name="rubrics"),
    path("rubrics/new/", rubrics.new, name="rubric_new"),
    path("rubrics/import/", rubrics.import_file, name="rubric_import"),
    path("rubrics/<int:rubric_id>/", rubrics.rubric, name="rubric"),
    path("rubrics/<int:rubric_id>/edit/", rubric_editor.edit, name="rubric_edit"),
    path("rubrics/<int:rubric_id>/preview/", rubric_editor.preview, name="rubric_preview"),
    path("rubrics/<int:rubric_id>/check/", rubric_editor.check_fields, name="rubric_check"),
    path("rubrics/<int:rubric_id>/try/", rubric_editor.try_out, name="rubric_try"),
    path("rubrics/<int:rubric_id>/source/", rubric_editor.source, name="rubric_source"),
    path("rubrics/<int:rubric_id>/publish/", rubrics.publish, name="rubric_publish"),
    path("rubrics/<int:rubric_id>/v<int:number>/", rubrics.version, name="rubric_version"),
    path("rubrics/<int:rubric_id>/v<int:number>/<str:format>", rubrics.download, name="rubric_download"),
    # Datasets
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/import/", datasets.import_file, name="dataset_import"),
    path("datasets/<int:dataset_id>/", datasets.dataset, name="dataset"),
    path("datasets/<int:dataset_id>/labels/", datasets.import_labels, name="labels_import"),
    path("datasets/<int:dataset_id>/split/", datasets.split, name="dataset_split"),
    path("items/<int:item_id>/", datasets.item, name="item"),
    # Runs
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", runs.new, name="run_new"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("runs/<int:run_id>/live/", runs.live, name="run_live"),
    path("runs/<int:run_id>/cancel/", runs.cancel, name="run_cancel"),
    path("runs/<int:run_id>/resume/", runs.resume, name="run_resume"),
    path("runs/<int:run_id>/items/<int:item_id>/", runs.item, name="run_item"),
    path("runs/<int:run_id>/against/", run_diff.choose, name="run_against"),
    path("runs/<int:run_id>/against/<int:baseline_id>/", run_diff.diff, name="run_diff"),
    path(
        "runs/<int:run_id>/against/<int:baseline_id>/items/<int:item_id>/",
        run_diff.item,
        name="run_diff_item",
    ),
    # Review
    path("review/", reviews.queues, name="queues"),
    path("review/new/", reviews.new_queue, name="queue_new"),
    path("review/<int:queue_id>/", reviews.queue, name="queue"),
    path("review/<int:queue_id>/next/", reviews.next_item, name="review_next"),
    path("review/<int:queue_id>/close/", reviews.close, name="queue_close"),
    path("review/<int:queue_id>/items/<int:item_id>/start/", reviews.start, name="review_start"),
    path("reviews/<int:review_id>/", reviews.review, name="review"),
    path("reviews/<int:review_id>/criteria/<int:criterion_id>/", reviews.save_verdict, name="review_verdict"),
    path("reviews/<int:review_id>/note/", reviews.save_note, name="review_note"),
    path("reviews/<int:review_id>/submit/", reviews.submit, name="review_submit"),
    path("reviews/<int:review_id>/skip/", reviews.skip, name="review_skip"),
    path("reviews/<int:review_id>/reveal/", reviews.reveal, name="review_reveal"),
    # Compare
    path("compare/", comparison.compare, name="compare"),
    path("compare/disagreements/", comparison.disagreements, name="disagreements"),
    path("compare/items/<int:item_id>/", comparison.item, name="compare_item"),
    path(
        "compare/items/<int:item_id>/criteria/<int:criterion_id>/", comparison.adjudicate, name="adjudicate"
    ),
    # Export
    path("exports/", exports.exports, name="exports"),
    path("exports/download/", exports.download, name="export_download"),
    # Team settings
    path("settings/", teams.settings_page, name="settings"),
    path("settings/members/", teams.members, name="settings_members"),
    path("settings/members/<int:user_id>/", teams.member, name="settings_member"),
    path("settings/judges/", teams.judges, name="settings_judges"),
    path("settings/judges/<int:endpoint_id>/remove/", teams.remove_judge, name="settings_judge_remove"),
    path("settings/tokens/", teams.tokens, name="settings_tokens"),
    path("settings/tokens/<int:token_id>/revoke/", teams.revoke_token, name="settings_token_revoke"),
    path("settings/journal/", teams.journal, name="settings_journal"),
]
