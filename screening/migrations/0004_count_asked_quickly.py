"""How many candidates a round would ask is counted from an index."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0003_document_metadata"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(
                condition=models.Q(("representative", True)),
                fields=["run"],
                name="candidate_asked",
            ),
        ),
    ]
