import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0004_count_arbitrated_quickly"),
        ("screening", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GoldItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MergedEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("members", models.JSONField()),
                ("proposal", models.JSONField()),
                ("created_at", models.DateTimeField()),
                ("digest", models.CharField(max_length=64)),
                ("digest_version", models.PositiveSmallIntegerField()),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("answer", models.TextField(blank=True)),
                ("answered_at", models.DateTimeField(null=True)),
                (
                    "guideline",
                    models.PositiveIntegerField(
                        help_text="number of the guideline version that carries the answer",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="reviewround",
            name="calibration",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="calibrated_rounds",
                to="reviews.reviewround",
            ),
        ),
        migrations.AddField(
            model_name="reviewround",
            name="deadline",
            field=models.DateTimeField(
                help_text="no seats are given after it; answers to held ones count",
                null=True,
                verbose_name="deadline",
            ),
        ),
        migrations.AddField(
            model_name="reviewround",
            name="pass_mark",
            field=models.PositiveSmallIntegerField(
                help_text="percent of known answers to get right; makes the round a calibration",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewround",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("pass_mark__isnull", True), ("pass_mark__lte", 100), _connector="OR"
                ),
                name="round_pass_mark_is_percent",
            ),
        ),
        migrations.AddField(
            model_name="golditem",
            name="item",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="gold",
                to="reviews.reviewitem",
            ),
        ),
        migrations.AddField(
            model_name="golditem",
            name="label_row",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="reviews.labelrow"
            ),
        ),
        migrations.AddField(
            model_name="mergedentry",
            name="collection",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="merged_entries",
                to="screening.collection",
            ),
        ),
        migrations.AddField(
            model_name="mergedentry",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="question",
            name="answered_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="question",
            name="item",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="reviews.reviewitem",
            ),
        ),
        migrations.AddField(
            model_name="question",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="question",
            name="round",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="questions",
                to="reviews.reviewround",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("answer", ""),
                        ("answered_by__isnull", True),
                        ("answered_at__isnull", True),
                        ("guideline__isnull", True),
                    ),
                    models.Q(
                        models.Q(("answer", ""), _negated=True),
                        ("answered_at__isnull", False),
                        ("guideline__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="question_answered_or_not",
            ),
        ),
    ]
