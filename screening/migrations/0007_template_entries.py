"""The template library of a collection: entries that are proposed from its texts and decided by people."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0006_run_reference"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="TemplateEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("entry", models.JSONField()),
                (
                    "level",
                    models.CharField(
                        choices=[
                            ("exact", "the same to the letter"),
                            ("plain", "the same but for punctuation, width and space"),
                            ("slots", "the same but for its slots"),
                        ],
                        max_length=10,
                    ),
                ),
                ("documents", models.PositiveIntegerField()),
                ("sources", models.PositiveIntegerField()),
                ("looked_at", models.PositiveIntegerField()),
                ("examples", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("confirmed", "Confirmed"),
                            ("rejected", "Rejected"),
                        ],
                        default="proposed",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "collection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="template_entries",
                        to="screening.collection",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-documents", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("collection", "digest"), name="template_entry_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(state__in=["proposed", "confirmed", "rejected"]),
                        name="template_entry_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(state="proposed", decided_at=None)
                        | (~Q(state="proposed") & Q(decided_at__isnull=False)),
                        name="template_entry_decided_has_time",
                    ),
                ],
            },
        ),
    ]
