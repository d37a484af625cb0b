"""Addresses of collections, documents, imports, runs and candidates."""

from __future__ import annotations

from django.urls import path

from screening.views import collections, documents, leaks, library, runs, uploads, ways

app_name = "screening"

urlpatterns = [
    path("collections/", collections.collection_list, name="collection-list"),
    path("create-collection/", collections.create_collection, name="create-collection"),
    path("collections/<str:slug>/", collections.collection_detail, name="collection-detail"),
    path("collections/<str:slug>/documents/", documents.document_list, name="document-list"),
    path("collections/<str:slug>/upload/", uploads.upload, name="upload"),
    path("collections/<str:slug>/screen/", runs.start_run, name="start-run"),
    path("collections/<str:slug>/templates/", library.library, name="template-library"),
    path(
        "collections/<str:slug>/templates/propose/",
        library.propose_templates,
        name="propose-templates",
    ),
    path(
        "template-entries/<int:entry_id>/decide/", library.decide_template, name="decide-template"
    ),
    path("documents/<int:document_id>/", documents.document_detail, name="document-detail"),
    path(
        "documents/<int:document_id>/metadata/",
        documents.correct_metadata,
        name="correct-metadata",
    ),
    path("documents/<int:document_id>/original/", documents.original, name="document-original"),
    path("imports/<int:import_id>/", uploads.import_detail, name="import-detail"),
    path("imports/<int:import_id>/progress/", uploads.import_progress, name="import-progress"),
    path("imports/<int:import_id>/confirm/", uploads.confirm, name="confirm-import"),
    path("imports/<int:import_id>/report/", uploads.import_report, name="import-report"),
    path("runs/<int:run_id>/", runs.run_detail, name="run-detail"),
    path("runs/<int:run_id>/progress/", runs.run_progress, name="run-progress"),
    path("runs/<int:run_id>/cancel/", runs.cancel, name="cancel-run"),
    path("runs/<int:run_id>/retry/", runs.retry, name="retry-run"),
    path("runs/<int:run_id>/files/<str:name>", runs.run_file, name="run-file"),
    path("runs/<int:run_id>/candidates/", runs.candidate_list, name="candidate-list"),
    path("runs/<int:run_id>/fragments/", ways.fragments, name="run-fragments"),
    path("runs/<int:run_id>/leaks/", leaks.leak_report, name="run-leaks"),
    path("ways/", ways.compare, name="ways"),
    path("candidates/<int:candidate_id>/", runs.candidate_detail, name="candidate-detail"),
]
