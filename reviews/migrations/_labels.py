"""The rule of three tables that says which labels there are, as one operation of a migration."""

from __future__ import annotations

from django.db import migrations
from django.db.migrations.operations.base import Operation
from django.db.models import CheckConstraint, Q

RECORDS = ("judgment", "opinion", "arbitration")


def known_labels(*codes: str) -> list[Operation]:
    """From here on judgments, opinions and decisions have one of these labels and no other."""
    operations: list[Operation] = []
    for record in RECORDS:
        name = f"{record}_label_is_known"
        rule = CheckConstraint(condition=Q(label__in=list(codes)), name=name)
        operations.append(migrations.RemoveConstraint(model_name=record, name=name))
        operations.append(migrations.AddConstraint(model_name=record, constraint=rule))
    return operations
