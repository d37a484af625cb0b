"""Labels are choices by name: another label changes the rule of the tables, and nothing else in the history."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models
from django.db.migrations.operations.base import Operation

from reviews.labels import label_choices


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("reviews", "0006_table_progress")]

    operations: ClassVar[list[Operation]] = [
        migrations.AlterField(
            record, "label", models.CharField(choices=label_choices, max_length=12)
        )
        for record in ("judgment", "opinion", "arbitration")
    ]
