"""A channel and a label are added in a few lines, in the places that docs/architecture.md names, and then simply work.

Both are added to a copy of the sources, as a person would who has read that page; everything else runs on the copy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("manage.py", "pyproject.toml", "requirements.lock", "dedupreview", "screening", "reviews", "locale", "templates", "static", "docs")  # fmt: skip
MOST = 15

CHANNEL = '''"""Channel ``titles``: documents whose titles are equal but for width, case and signs."""

from screening.channels import Hits, grouping
from screening.config import ScreeningConfig
from screening.text.corpus import Corpus
from screening.text.table import normalise_simply


def find(corpus: Corpus, config: ScreeningConfig) -> Hits:
    return grouping.alike(corpus, lambda d: normalise_simply(d.title or ""), config.bucket_cap)
'''

Edits = list[tuple[str, str, str]]
"""Of a file: the line to change or to add one behind (as a pattern), and what it becomes or what is added."""

CHANNEL_EDITS: Edits = [
    ("screening/beside.py", r"    \"bloom\": .*\n", '\\g<0>    "titles": titles.find,\n'),
    ("screening/beside.py", r"^    simhash,\n", "\\g<0>    titles,\n"),
    ("screening/config.py", r'"simhash", "lines"\)\n', '"simhash", "lines", "titles")\n'),
    ("screening/names.py", r'    "lines": _\("Repeated lines"\),\n', '\\g<0>    "titles": _("Same title"),\n'),
]  # fmt: skip

LABEL_EDITS: Edits = [
    ("screening/label_names.py", r'    "undecided": .*\n', '    "excerpt": LabelName("摘录", "摘", "6", "#8a1f5c"),\n\\g<0>'),
    ("reviews/labels.py", r'    UNDECIDED = "undecided".*\n', '    EXCERPT = "excerpt", _("Excerpt")\n\\g<0>'),
    ("reviews/labels.py", r"    Label.UNDECIDED: \(ReasonCode.TOO_LITTLE.*\n", "    Label.EXCERPT: (ReasonCode.QUOTES_OTHER, ReasonCode.OTHER),\n\\g<0>"),
    ("static/js/keys.js", r'.*act: "label-undecided".*\n', '  { keys: ["6"], act: "label-excerpt", scope: "answer", group: "judge", text: "label-excerpt" },\n\\g<0>'),
    ("static/css/app.css", r"\.label-undecided \{.*\n", "\\g<0>.label-excerpt { --tone: light-dark(#8a1f5c, #eb9fc6); --tone-soft: light-dark(#f9e4ef, #3f2033); }\n"),
]  # fmt: skip

MIGRATION = """from django.db import migrations

from reviews.migrations._labels import known_labels


class Migration(migrations.Migration):
    dependencies = [("reviews", "{last}")]
    operations = known_labels("copy", "revision", "citation", "template", "independent", "excerpt", "undecided")
"""


def lines_of(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def apply(tree: Path, edits: Edits) -> int:
    """Make the edits, each in exactly one place; how many lines they touch."""
    for name, place, change in edits:
        file = tree / name
        text, count = re.subn(place, change, file.read_text(encoding="utf-8"), flags=re.M)
        assert count == 1, (name, place, count)
        file.write_text(text, encoding="utf-8")
    return len(edits)


def catalogued(tree: Path, english: str, chinese: str) -> int:
    """Add a message to both catalogues, as the script of the translators does; the lines it takes."""
    import io

    from babel.messages import mofile, pofile

    folder = tree / "locale" / "zh_Hans" / "LC_MESSAGES"
    catalog = pofile.read_po(io.BytesIO((folder / "django.po").read_bytes()), locale="zh_Hans")
    catalog.add(english, chinese)
    with (folder / "django.mo").open("wb") as file:
        mofile.write_mo(file, catalog)
    return 2


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for part in PARTS:
        source, target = ROOT / part, tmp_path / "tree" / part
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    return tmp_path / "tree"


def python(tree: Path, *arguments: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DEDUPREVIEW_", "DJANGO_", "DATABASE_"))}  # fmt: skip
    environment |= {"DEDUPREVIEW_DATA_DIR": str(tree.parent / "data"), "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, timeout=180
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


FINDS = """
import hashlib
from screening.config import ScreeningConfig
from screening.documents import InputDocument
from screening.pipeline import screen
from screening.result import CHANNEL_BITS
def doc(name, title, raw):
    return InputDocument(name, raw, hashlib.sha256(raw.encode()).hexdigest(), title=title)
texts = [doc("a", "关于停水的通知", "明天上午东街停水两小时。"), doc("b", "关于停水的通知", "请各户提前储备生活用水。"),
         doc("c", "另一件事", "图书馆周一闭馆盘点藏书。")]
assert CHANNEL_BITS["semantic"] > 128 and max(CHANNEL_BITS.values()) < 1 << 16, CHANNEL_BITS
found = screen(texts, ScreeningConfig(channels=("exact", "minhash", "titles")), facts=True, threads=1)
print([(c.left, c.right, c.channels) for c in found.candidates], found.funnel["channels"]["titles"]["kept"])
"""


def test_a_channel_takes_few_lines_and_is_everywhere(tree: Path) -> None:
    (tree / "screening/channels/titles.py").write_text(CHANNEL, encoding="utf-8")
    written = (
        lines_of(CHANNEL) + apply(tree, CHANNEL_EDITS) + catalogued(tree, "Same title", "标题相同")
    )
    assert written < MOST
    assert "[(0, 1, ('titles',))]" in python(tree, "-c", FINDS)
    python(tree, "manage.py", "import_documents", str(ROOT / "docs/examples"), "--collection", "x")
    shown = python(
        tree, "-c",
        "import django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'dedupreview.settings'; django.setup()\n"
        "from screening.forms import RunForm\nfrom django.utils import translation\n"
        "translation.activate('zh-hans'); print(RunForm().as_p())",
    )  # fmt: skip
    assert "标题相同" in shown


JUDGES = """
import django, os, uuid
os.environ['DJANGO_SETTINGS_MODULE'] = 'dedupreview.settings'
django.setup()
from django.db import IntegrityError, transaction
from reviews import judging, queue
from reviews.models import Judgment, ReviewRound
from reviews.outcomes import outcomes
from reviews.agreement import measures
from dedupreview.people.models import Person
round = ReviewRound.objects.get()
for name in ("an", "bo"):
    one = Person.objects.get(username=name)
    slot = queue.claim(round=round, person=one)
    judging.submit(id=uuid.uuid4(), slot=slot, person=one, label="excerpt")
print([(o.label, o.review_status, o.advice) for o in outcomes(round) if o.label])
judgment = Judgment.objects.first()
print(judgment.reason_code)
from reviews.exchange import write_file
assert b'"excerpt"' in b"".join(write_file(round, "label-studio.xml", "tasks"))
from screening.labels_file import label_of
assert label_of("摘录") == label_of("excerpt") == label_of("摘") == "excerpt"
"""


def test_a_label_takes_few_lines_and_is_everywhere(tree: Path) -> None:
    last = sorted(p.stem for p in (tree / "reviews/migrations").glob("[0-9]*.py"))[-1]
    migration = MIGRATION.replace("{last}", last)
    (tree / "reviews/migrations/9999_excerpt.py").write_text(migration, encoding="utf-8")
    written = lines_of(migration) + apply(tree, LABEL_EDITS) + catalogued(tree, "Excerpt", "摘录")
    assert written < MOST
    assert "No changes" in python(tree, "manage.py", "makemigrations", "--check", "--dry-run")
    documents = str(ROOT / "docs/examples/documents.jsonl")
    python(tree, "manage.py", "import_documents", documents, "--collection", "example")
    python(tree, "manage.py", "screen", "example", "--out", str(tree.parent / "run"))
    people = "from dedupreview.people.models import Person\nfor n, r in (('an', 'annotator'), ('bo', 'annotator'), ('cheng', 'arbitrator')): Person.objects.create_user(username=n, role=r)"  # fmt: skip
    python(tree, "manage.py", "shell", "-c", people)
    opening = ("open_round", "1", "--name", "x", "--annotators", "an,bo", "--arbitrators", "cheng")
    python(tree, "manage.py", *opening)
    said = python(tree, "-c", JUDGES)
    assert "[('excerpt', 'agreed', '保留双方')]" in said
    assert "quotes_other" in said
    python(tree, "manage.py", "export_table", "1", "--out", str(tree.parent / "table"))
    table = next((tree.parent / "table").rglob("final.data.csv")).read_text(encoding="utf-8")
    assert "excerpt" in table
    assert "摘录" in table
    python(tree, "manage.py", "verify_table", str(tree.parent / "table"))
