"""What near fingerprints say of a candidate beside their distance."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0004_count_asked_quickly"),
    ]

    operations = [
        migrations.AddField(
            model_name="candidate",
            name="fingerprints",
            field=models.JSONField(null=True),
        ),
    ]
