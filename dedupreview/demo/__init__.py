"""Demo data: fictional documents, people and an open round, made on the first start of an empty installation.

Every step looks at what is there before it acts, so a start that was killed half way is simply continued by the next.
The round is opened by :func:`advance` once the background workers have finished the demo run.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

FOLDER = Path(__file__).parent
SLUG = "demo"
NAME = "示例资料库：青禾市"
ROUND_NAME = "示例轮次"
LABEL_SET_NAME = "示例标注"
GUIDELINE = (FOLDER / "guideline.md").read_text(encoding="utf-8")

PEOPLE: tuple[tuple[str, str, str], ...] = (
    ("admin", "admin", "管理员"),
    ("jia", "annotator", "标注员甲"),
    ("yi", "annotator", "标注员乙"),
    ("bing", "arbitrator", "仲裁员丙"),
    ("shen", "auditor", "审计员"),
)
"""Name, role and shown name of each demo person."""


@dataclass(frozen=True, slots=True)
class DemoLogin:
    name: str
    password: str
    role: str


def _logins_file() -> Path:
    return Path(settings.DATA_DIR) / "demo_logins.json"


def logins() -> list[DemoLogin]:
    """The demo logins of this installation; empty where no demo was ever made."""
    try:
        rows = json.loads(_logins_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [DemoLogin(**row) for row in rows]


def _write_logins(rows: list[DemoLogin]) -> None:
    # Written before the people are: a password that only its hash remembers would be lost with a kill in between.
    path = _logins_file()
    part = path.with_suffix(".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        json.dump([asdict(row) for row in rows], handle)
    part.replace(path)


def ensure_demo() -> list[DemoLogin] | None:
    """Make the demo on an installation that nobody uses yet, or continue making it; None where it is not wanted.

    People, documents and labels are made here, in a second or two; the screening run is left to the workers.
    """
    from dedupreview.people.models import Person

    rows = logins()
    if not rows:
        if Person.objects.exists():
            return None
        rows = [DemoLogin(name, secrets.token_urlsafe(9), role) for name, role, _shown in PEOPLE]
        _write_logins(rows)
    _ensure_people(rows)
    _ensure_collection()
    return rows


def _ensure_people(rows: list[DemoLogin]) -> None:
    from dedupreview.people.models import Person

    shown = {name: text for name, _role, text in PEOPLE}
    for row in rows:
        if not Person.objects.filter(username=row.name).exists():
            Person.objects.create_user(
                username=row.name, password=row.password, role=row.role, first_name=shown[row.name]
            )


def _ensure_collection() -> None:
    from dedupreview.people.models import Person
    from reviews.labelsets import import_labels
    from reviews.models import LabelSet
    from screening.config import ScreeningConfig
    from screening.importing import get_or_create_collection, import_path
    from screening.models import ScreeningRun
    from screening.runs import start_run

    admin = Person.objects.get(username="admin")
    collection = get_or_create_collection(slug=SLUG, actor=admin, name=NAME)
    import_path(path=FOLDER / "documents.jsonl", collection=collection, actor=admin)
    if not LabelSet.objects.filter(collection=collection, name=LABEL_SET_NAME).exists():
        import_labels(
            collection=collection,
            name=LABEL_SET_NAME,
            filename="labels.csv",
            data=(FOLDER / "labels.csv").read_bytes(),
            actor=admin,
        )
    if not ScreeningRun.objects.filter(collection=collection).exists():
        start_run(collection=collection, config=ScreeningConfig(), actor=admin)


def advance() -> bool:
    """Open the demo round once the demo run is done; True when there is nothing (more) to do."""
    from dedupreview.people.models import Person
    from reviews.models import ReviewRound
    from reviews.rounds import open_round
    from screening.models import ScreeningRun

    if not logins():
        return True
    run = ScreeningRun.objects.filter(collection__slug=SLUG).order_by("id").first()
    if run is None or not run.is_over:
        return False
    if run.state != ScreeningRun.State.DONE or ReviewRound.objects.filter(run=run).exists():
        return True
    people = {person.username: person for person in Person.objects.filter(is_active=True)}
    annotators = [people[name] for name in ("jia", "yi") if name in people]
    arbitrators = [people[name] for name in ("bing",) if name in people]
    if len(annotators) < 2 or not arbitrators:
        return True
    open_round(
        run=run,
        name=ROUND_NAME,
        annotators=annotators,
        arbitrators=arbitrators,
        judgments=2,
        guideline=GUIDELINE,
        actor=people.get("admin"),
    )
    return True
