"""open_round RUN: open a review round over the pairs of a finished screening run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from dedupreview.commands import DatabaseCommand
from dedupreview.people.models import Person
from reviews import rounds
from reviews.selection import Selection
from screening.models import ScreeningRun


class Command(DatabaseCommand):
    help = "Open a review round over the pairs of a finished screening run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="number of the screening run")
        parser.add_argument("--name", required=True, help="name of the round")
        parser.add_argument("--annotators", required=True, help="user names, separated by commas")
        parser.add_argument("--arbitrators", required=True, help="user names, separated by commas")
        parser.add_argument("--judgments", type=int, default=2, help="judgments per pair, 1 to 9")
        parser.add_argument("--limit", type=int, help="ask only so many pairs, best rank first")
        parser.add_argument(
            "--again", action="store_true", help="ask pairs that are decided already once more"
        )
        parser.add_argument("--order-seed", type=int, default=1, help="decides the order of pairs")
        parser.add_argument(
            "--show-scores", action="store_true", help="show scores and suggestions to annotators"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run = _run(options["run"])
        annotators, unknown = _people(options["annotators"])
        arbitrators, also_unknown = _people(options["arbitrators"])
        faults = [_("There is no user named %(name)s.") % {"name": n} for n in unknown]
        faults += [
            _("There is no user named %(name)s.") % {"name": n}
            for n in also_unknown
            if n not in unknown
        ]
        if not faults:
            found = rounds.people_faults(
                annotators=annotators, arbitrators=arbitrators, judgments=options["judgments"]
            )
            faults = [str(fault) for fault in found]
        if faults:
            raise CommandError("\n".join(faults))
        selection = Selection(again=options["again"])
        work = rounds.workload(
            run=run,
            people=len(annotators),
            judgments=options["judgments"],
            limit=options["limit"],
            selection=selection,
        )
        opened = rounds.open_round(
            run=run,
            name=options["name"],
            annotators=annotators,
            arbitrators=arbitrators,
            judgments=options["judgments"],
            limit=options["limit"],
            order_seed=options["order_seed"],
            show_scores=options["show_scores"],
            selection=selection,
        )
        self.stdout.write(
            _(
                "%(pairs)s pairs × %(judgments)s judgments = %(seats)s seats; at %(seconds)s seconds "
                "each about %(hours)s hours for each of %(people)s annotators."
            )
            % {
                "pairs": work.pairs,
                "judgments": options["judgments"],
                "seats": work.seats,
                "seconds": work.seconds_per_item,
                "hours": work.hours_per_person,
                "people": len(annotators),
            }
        )
        self.stdout.write(f"round: {opened.pk}")


def _run(number: str) -> ScreeningRun:
    run = (
        ScreeningRun.objects.filter(pk=number).first()
        if number.isascii() and number.isdecimal()
        else None
    )
    if run is None:
        raise CommandError(_("There is no screening run %(run)s.") % {"run": number})
    return run


def _people(names: str) -> tuple[list[Person], list[str]]:
    """The people of a list of names, in its order, and the names that nobody has."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {person.username: person for person in _named(wanted)}
    return [known[name] for name in wanted if name in known], [n for n in wanted if n not in known]


def _named(names: Iterable[str]) -> Iterable[Person]:
    return Person.objects.filter(username__in=list(names))
