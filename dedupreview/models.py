"""The machines that serve this installation."""

from __future__ import annotations

from django.db import models


class Host(models.Model):
    """A machine on which `up` runs or has run.

    ``mark`` tells machines apart, not containers or processes of one machine. ``key_mark`` and ``files_mark`` are
    digests of the secret key and of the data directory: every machine of one installation has the same.
    """

    mark = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=255)
    role = models.CharField(max_length=16)
    key_mark = models.CharField(max_length=64)
    files_mark = models.CharField(max_length=64)
    beats = models.PositiveBigIntegerField(default=0)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
