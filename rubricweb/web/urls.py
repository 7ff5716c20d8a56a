"""Pages of a team, room by room."""

from django.urls import URLPattern, path

from rubricweb.web.adjudication import views
from rubricweb.web.comparison import agreement_board, run_table
from rubricweb.web.comparison import views as comparison
from rubricweb.web.dashboard import views as dashboard
from rubricweb.web.datasets import case, combining, correction, imports, label_files, retirement, splits, tags
from rubricweb.web.datasets import views as datasets
from rubricweb.web.exports import views as exports
from rubricweb.web.judges import editing, team_judges
from rubricweb.web.judges import tries as judge_tries
from rubricweb.web.judges import views as judges
from rubricweb.web.reviews import calibration, comments, queues, reveals, selected
from rubricweb.web.reviews import views as reviews
from rubricweb.web.reviews.grid import views as grid
from rubricweb.web.rubrics import editor
from rubricweb.web.rubrics import views as rubrics
from rubricweb.web.runs import calls, control, diff, launch
from rubricweb.web.runs import views as runs
from rubricweb.web.saved_views import views as saved_views
from rubricweb.web.search import views as search
from rubricweb.web.shared.names import item_names
from rubricweb.web.spending import views as spending
from rubricweb.web.teams import archive, deletions, notifications, shared_links
from rubricweb.web.teams import views as teams

team_urls: list[URLPattern] = [
    path("", dashboard.dashboard, name="dashboard"),
    path("search/", search.search, name="search"),
    path("views/", saved_views.views, name="views"),
    path("views/<int:view_id>/", saved_views.view, name="view"),
    path("views/<int:view_id>/change/", saved_views.change, name="view_change"),
    # Rubrics
    path("rubrics/", rubrics.rubrics, name="rubrics"),
    path("rubrics/new/", rubrics.new, name="rubric_new"),
    path("rubrics/import/", rubrics.import_file, name="rubric_import"),
    path("rubrics/<int:rubric_id>/", rubrics.rubric, name="rubric"),
    path("rubrics/<int:rubric_id>/edit/", editor.edit, name="rubric_edit"),
    path("rubrics/<int:rubric_id>/preview/", editor.preview, name="rubric_preview"),
    path("rubrics/<int:rubric_id>/rows/", editor.rows, name="rubric_rows"),
    path("rubrics/<int:rubric_id>/check/", editor.check_fields, name="rubric_check"),
    path("rubrics/<int:rubric_id>/try/", editor.try_out, name="rubric_try"),
    path("rubrics/<int:rubric_id>/source/", editor.source, name="rubric_source"),
    path("rubrics/<int:rubric_id>/publish/", rubrics.publish, name="rubric_publish"),
    path("rubrics/<int:rubric_id>/versions/<int:number>/labels/", rubrics.labels, name="rubric_labels"),
    path(
        "rubrics/<int:rubric_id>/versions/<int:number>/labels/queue/",
        rubrics.label_queue,
        name="rubric_label_queue",
    ),
    path("rubrics/<int:rubric_id>/versions/<int:number>/restore/", rubrics.restore, name="rubric_restore"),
    path("rubrics/<int:rubric_id>/versions/<int:number>/copy/", rubrics.copy, name="rubric_copy"),
    path("rubrics/<int:rubric_id>/v<int:number>/", rubrics.version, name="rubric_version"),
    path("rubrics/<int:rubric_id>/v<int:number>/<str:format>", rubrics.download, name="rubric_download"),
    # Datasets
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/import/", imports.import_file, name="dataset_import"),
    path("datasets/sample/", imports.sample, name="dataset_sample"),
    path("datasets/imports/<int:import_id>/", imports.progress, name="dataset_import_progress"),
    path("datasets/imports/<int:import_id>/cancel/", imports.cancel, name="dataset_import_cancel"),
    path(
        "datasets/imports/<int:import_id>/duplicates/", imports.duplicates, name="dataset_import_duplicates"
    ),
    path("datasets/imports/<int:import_id>/faults.csv", imports.faults, name="dataset_import_faults"),
    path("datasets/combine/", combining.combine, name="combine"),
    path("datasets/combinations/", combining.combinations_page, name="combinations"),
    path("datasets/combinations/<int:combination_id>/", combining.combination, name="combination"),
    path("datasets/combinations/<int:combination_id>/runs/", combining.start_runs, name="combination_runs"),
    path("datasets/combinations/<int:combination_id>/cancel/", combining.cancel, name="combination_cancel"),
    path("datasets/systems/", archive.systems_page, name="systems"),
    path("datasets/<int:dataset_id>/", datasets.dataset, name="dataset"),
    path("datasets/<int:dataset_id>/add/", imports.add_items, name="dataset_add"),
    path("datasets/<int:dataset_id>/labels/", label_files.import_labels, name="labels_import"),
    path("datasets/<int:dataset_id>/raters/<int:rater_id>/", datasets.rater_kind, name="rater_kind"),
    path(
        "datasets/<int:dataset_id>/raters/<int:rater_id>/member/", datasets.rater_member, name="rater_member"
    ),
    path("datasets/<int:dataset_id>/columns/", datasets.declare_columns, name="dataset_columns"),
    path("datasets/<int:dataset_id>/seal/", datasets.seal, name="dataset_seal"),
    path("datasets/<int:dataset_id>/split/", splits.split_cases, name="dataset_split"),
    path("datasets/<int:dataset_id>/split/extend/", splits.extend, name="dataset_split_extend"),
    path("datasets/<int:dataset_id>/selection/", datasets.select, name="dataset_selection"),
    path("datasets/<int:dataset_id>/retire/", retirement.retire, name="dataset_retire"),
    path("datasets/<int:dataset_id>/undo/", retirement.undo, name="dataset_undo"),
    path("datasets/<int:dataset_id>/restore/", retirement.restore, name="dataset_restore"),
    path("datasets/<int:dataset_id>/tags/", tags.change_selected, name="dataset_tags"),
    path("items/<int:item_id>/", datasets.item, name="item"),
    path("items/<int:item_id>/names/", item_names, name="item_names"),
    path("items/<int:item_id>/correct/", correction.item, name="item_correct"),
    path("cases/<int:case_id>/", case.case, name="case"),
    path("cases/<int:case_id>/correct/", correction.case, name="case_correct"),
    path("cases/<int:case_id>/tags/", tags.change_case, name="case_tags"),
    # Comments
    path("items/<int:item_id>/comments/", comments.comments, name="comments"),
    path("comments/<int:comment_id>/", comments.comment, name="comment"),
    path("notifications/", notifications.notifications, name="notifications"),
    path("notifications/<int:notice_id>/", notifications.notification, name="notification"),
    # Judges
    path("judges/", team_judges.judges, name="judges"),
    path("judges/new/", editing.new, name="judge_new"),
    path("judges/<int:judge_id>/", team_judges.judge, name="judge"),
    path("judges/<int:judge_id>/edit/", editing.edit, name="judge_edit"),
    path("judges/<int:judge_id>/try/", judge_tries.try_version, name="judge_try"),
    path("judges/<int:judge_id>/diff/", team_judges.diff, name="judge_diff"),
    path("judges/<int:judge_id>/change/", team_judges.change, name="judge_change"),
    path("judges/<int:judge_id>/archive/", team_judges.archive, name="judge_archive"),
    path("judges/<int:judge_id>/v<int:number>/current/", team_judges.make_current, name="judge_current"),
    # Runs
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", launch.new, name="run_new"),
    path("runs/pair/", diff.pair, name="run_pair"),
    path("runs/table/", run_table.table, name="run_table"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("runs/<int:run_id>/live/", runs.live, name="run_live"),
    path("runs/<int:run_id>/log/", runs.log, name="run_log"),
    path("runs/<int:run_id>/pause/", control.pause, name="run_pause"),
    path("runs/<int:run_id>/resume/", control.resume, name="run_resume"),
    path("runs/<int:run_id>/cancel/", control.cancel, name="run_cancel"),
    path("runs/<int:run_id>/extend/", control.extend, name="run_extend"),
    path("runs/<int:run_id>/budget/", control.budget, name="run_budget"),
    path("runs/<int:run_id>/selection/", runs.select, name="run_selection"),
    path("runs/<int:run_id>/items/<int:item_id>/", runs.item, name="run_item"),
    path("runs/<int:run_id>/items/<int:item_id>/calls/<int:call_id>/", calls.call, name="run_call"),
    path("datasets/<int:dataset_id>/versions/", diff.versions, name="versions_against"),
    path("runs/<int:run_id>/against/", diff.choose, name="run_against"),
    path("runs/<int:run_id>/against/<int:baseline_id>/", diff.diff, name="run_diff"),
    path(
        "runs/<int:run_id>/against/<int:baseline_id>/items/<int:item_id>/",
        diff.item,
        name="run_diff_item",
    ),
    # Review
    path("review/", queues.queues, name="queues"),
    path("review/new/", queues.new_queue, name="queue_new"),
    path("review/selection/", selected.selection_queue, name="selection_queue"),
    path("review/<int:queue_id>/", queues.queue, name="queue"),
    path("review/<int:queue_id>/agreement/", agreement_board.board, name="queue_agreement"),
    path("review/<int:queue_id>/next/", queues.next_item, name="review_next"),
    path("review/<int:queue_id>/grid/", grid.grid, name="queue_grid"),
    path("review/<int:queue_id>/change/", queues.change, name="queue_change"),
    path("review/<int:queue_id>/edit/", queues.edit, name="queue_edit"),
    path("review/<int:queue_id>/people/", queues.people, name="queue_people"),
    path("review/<int:queue_id>/raters/", queues.raters_per_item, name="queue_raters"),
    path("review/<int:queue_id>/extend/", queues.extend, name="queue_extend"),
    path("review/<int:queue_id>/pause/", queues.pause, name="queue_pause"),
    path("review/<int:queue_id>/resume/", queues.resume, name="queue_resume"),
    path("review/<int:queue_id>/close/", queues.close, name="queue_close"),
    path("review/<int:queue_id>/reopen/", queues.reopen, name="queue_reopen"),
    path("review/<int:queue_id>/gold/", calibration.gold, name="queue_gold"),
    path("review/<int:queue_id>/gold/mark/", calibration.mark, name="queue_gold_mark"),
    path("review/<int:queue_id>/gold/<int:item_id>/unmark/", calibration.unmark, name="queue_gold_unmark"),
    path("review/<int:queue_id>/gold/rules/", calibration.rules, name="queue_gold_rules"),
    path("review/<int:queue_id>/raters/<int:rater_id>/let-on/", calibration.let_on, name="queue_let_on"),
    path(
        "review/<int:queue_id>/raters/<int:rater_id>/try-again/",
        calibration.try_again,
        name="queue_try_again",
    ),
    path(
        "review/<int:queue_id>/raters/<int:rater_id>/end-pause/",
        calibration.end_pause,
        name="queue_end_pause",
    ),
    path("review/<int:queue_id>/calibration/", calibration.mine, name="my_calibration"),
    path("review/<int:queue_id>/items/<int:item_id>/start/", queues.start, name="review_start"),
    path("reviews/<int:review_id>/", reviews.review, name="review"),
    path("reviews/<int:review_id>/criteria/<int:criterion_id>/", reviews.save_verdict, name="review_verdict"),
    path("reviews/<int:review_id>/note/", reviews.save_note, name="review_note"),
    path("reviews/<int:review_id>/heartbeat/", reviews.heartbeat, name="review_heartbeat"),
    path("reviews/<int:review_id>/ahead/", reviews.prefetch_next, name="review_prefetch"),
    path("reviews/<int:review_id>/give-back/", reviews.give_back, name="review_give_back"),
    path("reviews/<int:review_id>/submit/", reviews.submit, name="review_submit"),
    path("reviews/<int:review_id>/skip/", reviews.skip, name="review_skip"),
    path("reviews/<int:review_id>/reveal/", reveals.reveal, name="review_reveal"),
    path("reviews/<int:review_id>/send-again/", reveals.send_again, name="review_send_again"),
    path("reviews/<int:review_id>/send-back/", reveals.send_back, name="review_send_back"),
    path("reviews/<int:review_id>/keep/", reveals.keep_all, name="review_keep"),
    path(
        "reviews/<int:review_id>/criteria/<int:criterion_id>/revision/",
        reveals.revise,
        name="review_revision",
    ),
    # Adjudicate
    path("adjudication/", views.inbox, name="adjudication"),
    path("adjudication/selection/", views.select, name="adjudication_selection"),
    path(
        "adjudication/items/<int:item_id>/criteria/<int:criterion_id>/",
        views.unit,
        name="adjudication_unit",
    ),
    path(
        "adjudication/items/<int:item_id>/criteria/<int:criterion_id>/undo/",
        views.undo,
        name="adjudication_undo",
    ),
    path("adjudication/queues/<int:queue_id>/accept/", views.accept, name="queue_accept"),
    # Compare
    path("compare/", comparison.compare, name="compare"),
    path("compare/items/<int:item_id>/", comparison.item, name="compare_item"),
    # Export
    path("exports/", exports.exports, name="exports"),
    path("exports/download/", exports.download, name="export_download"),
    # Team settings
    path("settings/", teams.settings_page, name="settings"),
    path("settings/members/", teams.members, name="settings_members"),
    path("settings/invitations/<int:invitation_id>/", teams.invitation, name="settings_invitation"),
    path("settings/members/<int:user_id>/", teams.member, name="settings_member"),
    path("settings/judges/", judges.judges, name="settings_judges"),
    path("settings/judges/new/", judges.new, name="settings_judge_new"),
    path("settings/judges/found/", judges.found, name="settings_judges_found"),
    path("settings/judges/found/add/", judges.add_found, name="settings_judge_add_found"),
    path("settings/judges/models/", judges.listed_models, name="settings_judge_models"),
    path("settings/judges/test/", judges.test, name="settings_judge_test"),
    path("settings/judges/<int:endpoint_id>/", judges.judge, name="settings_judge"),
    path("settings/judges/<int:endpoint_id>/archive/", judges.archive, name="settings_judge_archive"),
    path("settings/judges/<int:endpoint_id>/remove/", judges.remove, name="settings_judge_remove"),
    path("settings/prices/", spending.prices, name="settings_prices"),
    path("settings/prices/remove/", spending.remove_price, name="settings_price_remove"),
    path("settings/spending/", spending.spending, name="settings_spending"),
    path("settings/retention/", spending.retention, name="settings_retention"),
    path("settings/tokens/", teams.tokens, name="settings_tokens"),
    path("settings/tokens/<int:token_id>/revoke/", teams.revoke_token, name="settings_token_revoke"),
    path("settings/shared-links/", shared_links.shared_links, name="settings_shared_links"),
    path("settings/shared-links/new/", shared_links.share, name="share"),
    path(
        "settings/shared-links/<int:link_id>/revoke/", shared_links.revoke, name="settings_shared_link_revoke"
    ),
    path("manage/<str:kind>/<int:row_id>/", archive.manage, name="manage"),
    path("manage/<str:kind>/<int:row_id>/delete/", deletions.delete, name="delete"),
    path("settings/rename/", deletions.rename_team, name="settings_rename"),
    path("settings/archive/", archive.archive_team, name="settings_archive"),
    path("settings/delete/", deletions.delete_team, name="settings_delete"),
    path("settings/deletions/", deletions.deletions, name="settings_deletions"),
    path("settings/audit-log/", teams.audit_log, name="settings_audit_log"),
]
