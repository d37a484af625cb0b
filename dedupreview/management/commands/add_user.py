"""add_user NAME: make a user with a role; the password comes from standard input."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import DatabaseCommand
from dedupreview.people.accounts import add_person
from dedupreview.people.models import Person, Role


class Command(DatabaseCommand):
    help = "Make a user with a role."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="user name, with which the person signs in")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--full-name", default="", help="name shown on the pages")
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from the first line of standard input; else it is asked for",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["password_stdin"]:
            password = sys.stdin.readline().removesuffix("\n").removesuffix("\r")
        elif sys.stdin.isatty():
            password = getpass.getpass(_("Password: "))
        else:
            raise CommandError(_("Give the password with --password-stdin."))
        person = add_person(
            username=options["name"],
            role=options["role"],
            password=password,
            full_name=options["full_name"],
        )
        for line in _weaknesses(password, person):
            self.stderr.write(line)
        self.stdout.write(f"user: {person.username} {person.code}")


def _weaknesses(password: str, person: Person) -> list[str]:
    """What is poor about the password. Whoever may run this command may also decide, so these only warn."""
    try:
        validate_password(password, person)
    except ValidationError as error:
        return [_("Note: %(text)s") % {"text": text} for text in error.messages]
    return []
