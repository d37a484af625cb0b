"""Who gets which page: every address, every role, one table."""

from __future__ import annotations

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from dedupreview.people.access import PERMISSIONS, require
from dedupreview.people.models import Role
from tests.web.site import PASSWORD, Site

ADMIN, AUDITOR, JUDGES = "admin", "auditor", "judges"
"""Who gets 200: admins, auditors (oversight), and the people of the round."""

TABLE: dict[str, set[str]] = {
    "home": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "workers": {ADMIN},
    "notices": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "api-docs": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "password_change": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "person-list": {ADMIN},
    "add-person": {ADMIN},
    "edit-person": {ADMIN},
    "own-keys": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "person-keys": {ADMIN},
    "audit": {ADMIN, AUDITOR},
    "screening:collection-list": {ADMIN, AUDITOR, JUDGES, "stranger"},
    "screening:create-collection": {ADMIN},
    "screening:collection-detail": {ADMIN, AUDITOR, JUDGES},
    "screening:document-list": {ADMIN, AUDITOR, JUDGES},
    "screening:upload": {ADMIN},
    "screening:start-run": {ADMIN},
    "screening:document-detail": {ADMIN, AUDITOR, JUDGES},
    "screening:document-original": {ADMIN, AUDITOR, JUDGES},
    "screening:correct-metadata": {ADMIN},
    "screening:import-detail": {ADMIN, AUDITOR},
    "screening:import-progress": {ADMIN, AUDITOR},
    "screening:import-report": {ADMIN, AUDITOR},
    "screening:run-detail": {ADMIN, AUDITOR},
    "screening:run-progress": {ADMIN, AUDITOR},
    "screening:run-fragments": {ADMIN, AUDITOR},
    "screening:run-leaks": {ADMIN, AUDITOR},
    "screening:template-library": {ADMIN, AUDITOR},
    "screening:ways": {ADMIN, AUDITOR},
    "screening:candidate-list": {ADMIN, AUDITOR},
    "screening:candidate-detail": {ADMIN, AUDITOR},
    "reviews:round-list": {ADMIN, AUDITOR},
    "reviews:open-round": {ADMIN},
    "reviews:round-detail": {ADMIN, AUDITOR},
    "reviews:round-progress": {ADMIN, AUDITOR},
    "reviews:agreement": {ADMIN, AUDITOR},
    "reviews:item-list": {ADMIN, AUDITOR},
    "reviews:guideline": {ADMIN, AUDITOR, JUDGES},
    "reviews:sign-off": {ADMIN, AUDITOR, JUDGES},
    "reviews:exchange": {ADMIN, AUDITOR},
    "reviews:exchange-file": {ADMIN, AUDITOR},
    "reviews:table-detail": {ADMIN, AUDITOR},
    "reviews:verify-table": {ADMIN, AUDITOR},
    "reviews:run-checklist": {ADMIN, AUDITOR},
    "reviews:round-checklist": {ADMIN, AUDITOR},
    "reviews:evaluation": {ADMIN, AUDITOR},
    "reviews:experiments": {ADMIN, AUDITOR},
    "reviews:upload-labels": {ADMIN},
    "reviews:label-set-detail": {ADMIN, AUDITOR},
    "reviews:label-set-original": {ADMIN, AUDITOR},
    "reviews:round-people": {ADMIN},
    "reviews:question-list": {ADMIN},
    "reviews:gold-results": {ADMIN},
    "reviews:ask": {JUDGES},
    "reviews:relation-list": {ADMIN, AUDITOR},
    "reviews:group-detail": {ADMIN, AUDITOR},
}

POST_ONLY: dict[str, set[str]] = {
    "screening:cancel-run": {ADMIN},
    "reviews:start-experiment": {ADMIN},
    "screening:retry-run": {ADMIN},
    "screening:confirm-import": {ADMIN},
    "screening:propose-templates": {ADMIN},
    "screening:decide-template": {ADMIN},
    "reviews:export-table": {ADMIN},
    "reviews:change-members": {ADMIN},
    "reviews:change-state": {ADMIN},
    "reviews:answer-question": {ADMIN},
    "reviews:ask-again": {ADMIN},
    "reviews:sign-entry": {ADMIN},
}

OPEN_TO_ALL = {"login", "logout", "healthz", "readyz", "set_language"}

ELSEWHERE = {
    # Pages of the pair, of one's own queue and of arbitration: their tests are in tests/pair.
    "claim-item", "nothing", "item", "submit-judgment", "save-draft", "articles", "original-text", "original-file",
    "release-seat", "renew-seat", "my-judgments", "conflict-list", "arbitrate", "give-opinion", "decide",
    "decided-meanwhile",
}  # fmt: skip

NEED_FILES = {"screening:run-file", "reviews:table-download"}
"""Downloads of files that this small site has not got; test_downloads.py has them."""


def _people(site: Site) -> dict[str, list[object]]:
    return {
        ADMIN: [site.admin],
        AUDITOR: [site.auditor],
        JUDGES: [site.annotator, site.arbitrator],
        "stranger": [site.stranger],
    }


def _differing(site: Site, groups: set[str]) -> list[tuple[str, str, int]]:
    """(group, page, status) wherever a page is not for whom the table says."""
    wrong = []
    for group, people in _people(site).items():
        for who in people if group in groups else []:
            client = site.client(who)  # type: ignore[arg-type]
            for name, address in site.addresses().items():
                status = client.get(address).status_code
                expected = {200, 286} if group in TABLE[name] else {404}
                if status not in expected:
                    wrong.append((group, name, status))
    return wrong


def test_every_page_is_for_whom_the_table_says(site: Site) -> None:
    assert _differing(site, {ADMIN, AUDITOR, JUDGES, "stranger"}) == []


BY_ROW = {"judge", "arbitrate"}
"""Who may do these is decided by membership of a round; tests/pair and tests/reviews have their pages."""


@pytest.mark.parametrize(
    "action",
    [n for n, roles in PERMISSIONS.items() if roles < set(Role.values) and n not in BY_ROW],
)
def test_a_right_that_everybody_had_would_be_noticed(
    site: Site, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    """Each right guards a page or an act: the comparison is not empty for any of them."""
    export = reverse("reviews:export-table", args=[site.round.pk])
    assert site.client(site.annotator).post(export).status_code == 404
    monkeypatch.setitem(PERMISSIONS, action, frozenset(Role.values))
    acts = site.client(site.annotator).post(export).status_code != 404
    assert acts or _differing(site, {AUDITOR, JUDGES})


def test_strangers_to_the_site_are_asked_to_sign_in(site: Site) -> None:
    client = site.client(None)
    for name, address in site.addresses().items():
        response = client.get(address)
        assert response.status_code == 302, name
        assert response["Location"].startswith("/login?next="), name


def test_inactive_people_get_nothing(site: Site) -> None:
    client = site.client(site.admin)
    site.admin.is_active = False
    site.admin.save()
    assert client.get("/people/").status_code == 302


def test_acts_are_for_whom_the_table_says(site: Site) -> None:
    arguments = {
        "screening:confirm-import": [site.done_import.pk],
        "screening:cancel-run": [site.waiting_run.pk],
        "screening:retry-run": [site.waiting_run.pk],
        "screening:propose-templates": [site.collection.slug],
        "screening:decide-template": [site.template.pk],
        "reviews:start-experiment": [site.run.pk],
        "reviews:export-table": [site.round.pk],
        "reviews:change-members": [site.round.pk],
        "reviews:change-state": [site.round.pk],
        "reviews:answer-question": [site.question.pk],
        "reviews:ask-again": [site.grouped.collection_id],
        "reviews:sign-entry": [site.grouped.collection_id, site.grouped.pk],
    }
    for name, allowed in POST_ONLY.items():
        address = reverse(name, args=arguments[name])
        for group, people in _people(site).items():
            for who in people:
                client = site.client(who)  # type: ignore[arg-type]
                expected = (302, 405) if group in allowed else (404, 404)
                shown = client.get(site.addresses()["reviews:group-detail"])
                sent = {"person": site.second.pk, "part": "annotator", "state": "open", "pair": "1-2",
                        "password": PASSWORD, "shown": (shown.context or {}).get("digest", "")}  # fmt: skip
                assert client.post(address, sent).status_code == expected[0], (group, name)
                assert client.get(address).status_code == expected[1], (group, name)


def test_posts_to_pages_follow_the_table_too(site: Site) -> None:
    writers = ["screening:create-collection", "screening:upload", "screening:start-run", "add-person", "edit-person",
               "reviews:open-round", "reviews:upload-labels", "reviews:guideline"]  # fmt: skip
    for name in writers:
        for who in (site.auditor, site.annotator, site.arbitrator, site.stranger):
            assert site.client(who).post(site.addresses()[name]).status_code == 404, (name, who)


def _names(resolver: URLResolver, prefix: str = "") -> set[str]:
    found: set[str] = set()
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            if entry.name:
                found.add(prefix + entry.name)
        elif entry.namespace != "api":
            found |= _names(entry, f"{entry.namespace}:" if entry.namespace else prefix)
    return found


def test_no_address_is_missing_from_the_table() -> None:
    known = set(TABLE) | set(POST_ONLY) | OPEN_TO_ALL | NEED_FILES
    known |= {f"reviews:{name}" for name in ELSEWHERE}
    assert _names(get_resolver()) - known == set()


def test_roles_of_the_permission_table_exist() -> None:
    assert set().union(*PERMISSIONS.values()) == set(Role.values)
    with pytest.raises(KeyError):
        require("no_such_action")
