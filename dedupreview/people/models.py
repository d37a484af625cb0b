"""People, and the insert-only record of what they did apart from judging."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""No 0/O, 1/I/L: a person code is read aloud and typed from paper."""


def new_person_code() -> str:
    """A person code: ``P-`` and six characters, about 30 bits."""
    return "P-" + "".join(secrets.choice(CODE_ALPHABET) for _unused in range(6))


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("Annotator")
    ARBITRATOR = "arbitrator", _("Arbitrator")
    ADMIN = "admin", _("Admin")
    AUDITOR = "auditor", _("Auditor")


class Person(AbstractUser):
    """A user. Records name people by ``code``, never by name; people with records are deactivated, not deleted."""

    code = models.CharField(_("person code"), max_length=12, unique=True, default=new_person_code)
    role = models.CharField(_("role"), max_length=12, choices=Role.choices, default=Role.ANNOTATOR)

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="person_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    @property
    def is_admin(self) -> bool:
        return self.is_superuser or self.role == Role.ADMIN

    @property
    def is_auditor(self) -> bool:
        return self.is_admin or self.role == Role.AUDITOR


class AuditEvent(models.Model):
    """One act that is not a judgment: sign-in, role change, import, run, round, export, read of blinded data.

    ``subject_type`` and ``subject_id`` name the row acted on (for example ``round``, ``12``); ``data`` is JSON without
    document text and without labels. Written only through :func:`dedupreview.people.audit.record`.
    """

    insert_only: ClassVar[bool] = True

    actor = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=40, blank=True)
    subject_id = models.CharField(max_length=64, blank=True)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["subject_type", "subject_id"], name="audit_subject")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_type} {self.subject_id}".strip()


class ApiToken(models.Model):
    """A key to the API for one person. Only its sha256 is kept; the key itself is shown once."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"token {self.pk} of {self.person_id}"
