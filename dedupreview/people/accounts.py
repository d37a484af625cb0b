"""Making people."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from dedupreview.people import audit
from dedupreview.people.models import Person, Role

NAME_TAKEN = "There is already a user named %(name)s."
NAME_INVALID = "A user name has letters, digits and @ . + - _ only, 150 at most: %(name)s"
ROLE_UNKNOWN = "Unknown role: %(role)s"
PASSWORD_EMPTY = "The password is empty."


class PeopleError(Exception):
    """A person could not be made. ``template`` is an English msgid, ``params`` fills it."""

    def __init__(self, template: str, params: Mapping[str, object] | None = None) -> None:
        super().__init__(template)
        self.template = template
        self.params = dict(params or {})

    def __str__(self) -> str:
        text = gettext(self.template)
        return text % self.params if self.params else text


def add_person(
    *,
    username: str,
    role: str,
    password: str,
    full_name: str = "",
    actor: Person | None = None,
) -> Person:
    """Make a person with a role and a password; the act is on record.

    Whether the password is a good one is for the caller to say.

    :raises PeopleError: for a name that is taken or not allowed, an unknown role, an empty password.
    """
    if role not in Role.values:
        raise PeopleError(ROLE_UNKNOWN, {"role": role[:40]})
    if not password:
        raise PeopleError(PASSWORD_EMPTY)
    name = Person.normalize_username(username)
    person = Person(username=name, role=role, first_name=full_name.strip()[:150])
    try:
        person.clean_fields(exclude=["password", "code"])
    except ValidationError:
        raise PeopleError(NAME_INVALID, {"name": username[:150]}) from None
    if Person.objects.filter(username=name).exists():
        raise PeopleError(NAME_TAKEN, {"name": name})
    person.set_password(password)
    try:
        with transaction.atomic():
            person.save()
            audit.record(
                actor=actor,
                action="person.added",
                subject_type="person",
                subject_id=person.code,
                data={"role": role},
            )
    except IntegrityError:
        # Two commands at once: the database has the last word.
        raise PeopleError(NAME_TAKEN, {"name": name}) from None
    return person
