"""Pages about people: who they are, what they may do, what was recorded."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dedupreview.pages import page_of
from dedupreview.people import sessions, tokens
from dedupreview.people.access import person_of, require
from dedupreview.people.audit import record
from dedupreview.people.forms import AuditFilter, PersonForm
from dedupreview.people.models import AuditEvent, Person, Role


@require("manage_people")
@require_safe
def person_list(request: HttpRequest) -> HttpResponse:
    """Everybody, the active first."""
    people = Person.objects.annotate(rounds=Count("round_memberships", distinct=True)).order_by(
        "-is_active", "role", "username", "pk"
    )
    return render(request, "people/person_list.html", {"people": people, "section": "people"})


@require("manage_people")
@require_http_methods(["GET", "POST"])
def add_person(request: HttpRequest) -> HttpResponse:
    """Give a person an account."""
    form = PersonForm(request.POST or None, initial={"role": Role.ANNOTATOR})
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            person: Person = form.save(commit=False)
            person.set_password(form.cleaned_data["password"])
            person.save()
            _record(request, "person.added", person, role=person.role)
        messages.success(
            request, _("%(name)s can sign in now; records name them %(code)s.") % _named(person)
        )
        return redirect("person-list")
    return render(request, "people/person_form.html", {"form": form, "section": "people"})


@require("manage_people")
@require_http_methods(["GET", "POST"])
def edit_person(request: HttpRequest, person_id: int) -> HttpResponse:
    """Change a person's name, role, password or whether they may sign in."""
    person = get_object_or_404(Person, pk=person_id)
    before = (person.role, person.is_active)
    form = PersonForm(request.POST or None, instance=person)
    if request.method == "POST" and form.is_valid():
        if _locks_out(request, form):
            form.add_error(None, _("You cannot take your own admin role or account away."))
        else:
            with transaction.atomic():
                _save(request, form, before)
            messages.success(request, _("%(name)s is up to date.") % _named(person))
            return redirect("person-list")
    context = {"form": form, "person": person, "section": "people"}
    return render(request, "people/person_form.html", context)


def _locks_out(request: HttpRequest, form: PersonForm) -> bool:
    """Whether the change would leave the admin who makes it outside."""
    changed: Person = form.instance
    return changed.pk == person_of(request).pk and not (changed.is_active and changed.is_admin)


def _save(request: HttpRequest, form: PersonForm, before: tuple[str, bool]) -> None:
    person: Person = form.save(commit=False)
    if form.cleaned_data["password"]:
        person.set_password(form.cleaned_data["password"])
    person.save()
    changes: dict[str, Any] = {}
    if person.role != before[0]:
        changes["role"] = person.role
    if person.is_active != before[1]:
        changes["active"] = person.is_active
    if form.cleaned_data["password"]:
        changes["password"] = "set"
        if person.pk == person_of(request).pk:
            update_session_auth_hash(request, person)
    if changes or form.has_changed():
        _record(request, "person.changed", person, **changes)


def _record(request: HttpRequest, action: str, person: Person, **data: object) -> None:
    record(
        actor=person_of(request),
        action=action,
        subject_type="person",
        subject_id=person.code,
        data=data,
    )


def _named(person: Person) -> dict[str, str]:
    return {"name": str(person), "code": person.code}


@login_required
@require_http_methods(["GET", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    """Set one's own password."""
    person = person_of(request)
    form = PasswordChangeForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.save()
            _record(request, "person.changed", person, password="own")
        update_session_auth_hash(request, person)
        messages.success(request, _("Your password is changed."))
        return redirect("home")
    return render(request, "people/password.html", {"form": form})


@login_required
@require_http_methods(["GET", "POST"])
def own_keys(request: HttpRequest) -> HttpResponse:
    """One's own sessions and keys to the API."""
    return _keys(request, person_of(request))


@require("manage_people")
@require_http_methods(["GET", "POST"])
def person_keys(request: HttpRequest, person_id: int) -> HttpResponse:
    """Another person's sessions and keys, to end them."""
    return _keys(request, get_object_or_404(Person, pk=person_id))


def _keys(request: HttpRequest, subject: Person) -> HttpResponse:
    """Nobody sees a key again here, only that it exists."""
    actor = person_of(request)
    live = tokens.live_of(subject)
    if request.method == "POST":
        if request.POST.get("act") == "revoke":
            key = request.POST.get("key", "")
            known = key.isascii() and key.isdigit() and len(key) <= 18
            token = get_object_or_404(live, pk=int(key) if known else 0)
            tokens.revoke(token=token, actor=actor)
            messages.success(request, _("The key opens nothing any more."))
        else:
            own = request.session.session_key if subject.pk == actor.pk else None
            ended, revoked = sessions.sign_out_everywhere(person=subject, actor=actor, but=own)
            messages.success(
                request,
                _("%(ended)s sessions ended, %(revoked)s keys revoked.")
                % {"ended": ended, "revoked": revoked},
            )
        return redirect(request.path)
    context = {
        "subject": subject,
        "keys": live,
        "sessions": len(sessions.sessions_of(subject)),
        "section": "people" if subject.pk != actor.pk else "",
    }
    return render(request, "people/keys.html", context)


@require("see_audit")
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """What people did apart from judging: ids only, neither texts nor labels."""
    form = AuditFilter(request.GET)
    form.is_valid()
    wanted = form.cleaned_data
    events = AuditEvent.objects.select_related("actor").order_by("-pk")
    if action := wanted.get("action"):
        events = events.filter(action__startswith=action)
    if subject := wanted.get("subject"):
        events = events.filter(subject_id=subject)
    if actor := wanted.get("actor"):
        events = events.filter(actor__code=actor)
    context = {"page": page_of(request, events, 100), "wanted": wanted, "section": "audit"}
    return render(request, "people/audit.html", context)
