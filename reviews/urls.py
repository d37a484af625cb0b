"""Addresses of rounds, items, tables and label sets."""

from __future__ import annotations

from django.urls import path

from reviews.views import labelsets, rounds, tables

app_name = "reviews"

round_urls = [
    path("rounds/", rounds.round_list, name="round-list"),
    path("rounds/open/<int:run_id>/", rounds.open_round, name="open-round"),
    path("rounds/<int:round_id>/", rounds.round_detail, name="round-detail"),
    path("rounds/<int:round_id>/progress/", rounds.round_progress, name="round-progress"),
    path("rounds/<int:round_id>/guideline/", rounds.guideline, name="guideline"),
    path("rounds/<int:round_id>/sign/", rounds.sign_off, name="sign-off"),
]

table_urls = [
    path("rounds/<int:round_id>/tables/", tables.export, name="export-table"),
    path("tables/<int:table_id>/", tables.table_detail, name="table-detail"),
    path("tables/<int:table_id>/download/", tables.download, name="table-download"),
]

label_set_urls = [
    path("label-sets/upload/<int:collection_id>/", labelsets.upload, name="upload-labels"),
    path("label-sets/<int:label_set_id>/", labelsets.label_set_detail, name="label-set-detail"),
    path("label-sets/<int:label_set_id>/original/", labelsets.original, name="label-set-original"),
]

# The pair page, a person's own queue and arbitration: reviews/views/items.py.
item_urls: list[object] = []

urlpatterns = [*round_urls, *table_urls, *label_set_urls, *item_urls]
