from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PeopleConfig(AppConfig):
    name = "dedupreview.people"
    label = "people"
    verbose_name = _("People")
