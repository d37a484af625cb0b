"""An upload is checked first and added once somebody confirms it."""

from __future__ import annotations

from django.db import migrations, models

STATES = [
    ("queued", "Waiting"),
    ("running", "Running"),
    ("checked", "To be confirmed"),
    ("done", "Done"),
    ("failed", "Failed"),
    ("discarded", "Discarded"),
]


class Migration(migrations.Migration):
    dependencies = [("screening", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="documentimport",
            name="confirmed",
            field=models.BooleanField(
                default=True,
                help_text="false: only say what would become of the files, then wait",
            ),
        ),
        migrations.AlterField(
            model_name="documentimport",
            name="state",
            field=models.CharField(choices=STATES, default="queued", max_length=10),
        ),
        migrations.RemoveConstraint(model_name="documentimport", name="import_state_is_known"),
        migrations.AddConstraint(
            model_name="documentimport",
            constraint=models.CheckConstraint(
                condition=models.Q(state__in=[state for state, _ in STATES]),
                name="import_state_is_known",
            ),
        ),
    ]
