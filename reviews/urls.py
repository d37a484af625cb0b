"""Addresses of rounds, items, tables and label sets."""

from __future__ import annotations

from django.urls import path, register_converter

from reviews.views import (
    arbitration,
    articles,
    caring,
    checklists,
    concord,
    evaluating,
    exchange,
    families,
    items,
    labelsets,
    mine,
    rounds,
    running,
    tables,
)

app_name = "reviews"


class SideConverter:
    """``left`` or ``right``: a canonical side."""

    regex = "left|right"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(SideConverter, "side")

round_urls = [
    path("rounds/", rounds.round_list, name="round-list"),
    path("rounds/open/<int:run_id>/", rounds.open_round, name="open-round"),
    path("rounds/<int:round_id>/", rounds.round_detail, name="round-detail"),
    path("rounds/<int:round_id>/progress/", rounds.round_progress, name="round-progress"),
    path("rounds/<int:round_id>/items/", running.item_list, name="item-list"),
    path("rounds/<int:round_id>/members/", running.change_members, name="change-members"),
    path("rounds/<int:round_id>/state/", running.change_state, name="change-state"),
    path("rounds/<int:round_id>/guideline/", rounds.guideline, name="guideline"),
    path("rounds/<int:round_id>/agreement/", concord.agreement, name="agreement"),
    path("rounds/<int:round_id>/sign/", rounds.sign_off, name="sign-off"),
    path("rounds/<int:round_id>/pairs/", exchange.exchange, name="exchange"),
    path(
        "rounds/<int:round_id>/pairs/<slug:kind>/<str:file>",
        exchange.exchange_file,
        name="exchange-file",
    ),
]

table_urls = [
    path("rounds/<int:round_id>/tables/", tables.export, name="export-table"),
    path("tables/verify/", tables.verify, name="verify-table"),
    path("tables/<int:table_id>/", tables.table_detail, name="table-detail"),
    path("tables/<int:table_id>/download/", tables.download, name="table-download"),
]

label_set_urls = [
    path("runs/<int:run_id>/checklist/", checklists.of_run, name="run-checklist"),
    path("rounds/<int:round_id>/checklist/", checklists.of_round, name="round-checklist"),
    path("runs/<int:run_id>/evaluation/", evaluating.evaluation, name="evaluation"),
    path("runs/<int:run_id>/vary/", evaluating.start_experiment, name="start-experiment"),
    path("collections/<int:collection_id>/runs/", evaluating.experiments, name="experiments"),
    path("label-sets/upload/<int:collection_id>/", labelsets.upload, name="upload-labels"),
    path("label-sets/<int:label_set_id>/", labelsets.label_set_detail, name="label-set-detail"),
    path("label-sets/<int:label_set_id>/original/", labelsets.original, name="label-set-original"),
]

item_urls = [
    path("rounds/<int:round_id>/next/", items.next_item, name="claim-item"),
    path("rounds/<int:round_id>/nothing/<slug:why>/", items.nothing_to_do, name="nothing"),
    path("items/<int:item_id>/", items.item, name="item"),
    path("items/<int:item_id>/articles/", articles.articles, name="articles"),
    path("items/<int:item_id>/judgments/", items.submit_judgment, name="submit-judgment"),
    path("items/<int:item_id>/draft/", items.save_draft, name="save-draft"),
    path("items/<int:item_id>/text/<side:side>/", mine.original_text, name="original-text"),
    path("items/<int:item_id>/file/<side:side>/", mine.original_file, name="original-file"),
    path("seats/<int:slot_id>/release/", items.release_seat, name="release-seat"),
    path("seats/<int:slot_id>/lease/", items.renew_seat, name="renew-seat"),
    path("judgments/", mine.my_judgments, name="my-judgments"),
]

arbitration_urls = [
    path("rounds/<int:round_id>/conflicts/", arbitration.conflict_list, name="conflict-list"),
    path("items/<int:item_id>/arbitration/", arbitration.arbitrate, name="arbitrate"),
    path("items/<int:item_id>/opinion/", arbitration.give_opinion, name="give-opinion"),
    path("items/<int:item_id>/decision/", arbitration.decide, name="decide"),
    path(
        "items/<int:item_id>/decided-meanwhile/",
        arbitration.decided_meanwhile,
        name="decided-meanwhile",
    ),
]

caring_urls = [
    path("rounds/<int:round_id>/people/", caring.round_people, name="round-people"),
    path("rounds/<int:round_id>/questions/", caring.question_list, name="question-list"),
    path("rounds/<int:round_id>/known/", caring.gold_results, name="gold-results"),
    path("items/<int:item_id>/question/", caring.ask, name="ask"),
    path("questions/<int:question_id>/answer/", caring.answer, name="answer-question"),
]

relation_urls = [
    path("relations/<int:collection_id>/", families.relation_list, name="relation-list"),
    path("relations/<int:collection_id>/ask-again/", families.ask_again, name="ask-again"),
    path(
        "relations/<int:collection_id>/groups/<int:document_id>/",
        families.group_detail,
        name="group-detail",
    ),
    path(
        "relations/<int:collection_id>/groups/<int:document_id>/sign/",
        families.sign_entry,
        name="sign-entry",
    ),
]

urlpatterns = [
    *relation_urls,
    *caring_urls,
    *round_urls,
    *table_urls,
    *label_set_urls,
    *item_urls,
    *arbitration_urls,
]
