"""A run may compare its collection with another one, whose texts are references."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("screening", "0005_near_fingerprints")]

    operations = [
        migrations.AddField(
            model_name="screeningrun",
            name="reference",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="reference_runs",
                to="screening.collection",
            ),
        ),
    ]
