"""Metadata are corrected by new versions; what came with a file stays."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0002_import_confirmation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DocumentMetadata",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the first correction")),
                ("values", models.JSONField()),
                ("reason", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("digest", models.CharField(max_length=64)),
                ("digest_version", models.PositiveSmallIntegerField()),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="corrections",
                        to="screening.document",
                    ),
                ),
            ],
            options={"ordering": ["document", "number"]},
        ),
        migrations.AddConstraint(
            model_name="documentmetadata",
            constraint=models.UniqueConstraint(
                fields=("document", "number"), name="metadata_version_once"
            ),
        ),
    ]
