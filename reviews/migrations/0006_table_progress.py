from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0005_gold_questions_and_entries")]

    operations = [
        migrations.AddField(
            "reviewtable",
            "stage",
            models.CharField(
                blank=True,
                choices=[
                    ("pairs", "Reading the pairs and their judgments"),
                    ("documents", "Checking the texts"),
                    ("workbook", "Writing the workbook"),
                    ("packing", "Packing the zip, in megabytes"),
                ],
                max_length=12,
            ),
            preserve_default=False,
        ),
        migrations.AddField("reviewtable", "progress_done", models.PositiveIntegerField(default=0)),
        migrations.AddField(
            "reviewtable", "progress_total", models.PositiveIntegerField(default=0)
        ),
    ]
