"""Forms about people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from dedupreview.people.models import Person, Role

ROLE_WORDS = {
    Role.ANNOTATOR.value: _("Judges pairs in the rounds they are chosen for."),
    Role.ARBITRATOR.value: _("Decides where judgments differ; may also judge in other rounds."),
    Role.ADMIN.value: _(
        "Uploads texts, starts screening, opens rounds, exports tables, manages people."
    ),
    Role.AUDITOR.value: _(
        "Reads everything that is settled and the audit record; changes nothing."
    ),
}


class PersonForm(forms.ModelForm):  # type: ignore[type-arg]
    """A person's name and part; ``password`` is asked for a new person and may be set anew later."""

    username = forms.CharField(
        label=_("Sign-in name"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _ only; Chinese characters count as letters."),
        validators=[Person.username_validator],
    )
    first_name = forms.CharField(label=_("Name"), max_length=150, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, widget=forms.RadioSelect)
    is_active = forms.BooleanField(
        label=_("May sign in"),
        required=False,
        initial=True,
        help_text=_(
            "People with judgments are never deleted; take this tick away to close the account."
        ),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    class Meta:
        model = Person
        fields = ["username", "first_name", "role", "is_active"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["password"].required = False
            self.fields["password"].label = _("New password")
            self.fields["username"].disabled = True
        else:
            del self.fields["is_active"]

    @property
    def roles(self) -> list[tuple[str, Any, Any, bool]]:
        """(value, name, plain words, chosen) of each role."""
        chosen = self["role"].value()
        return [(value, name, ROLE_WORDS[value], value == chosen) for value, name in Role.choices]

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        if Person.objects.filter(username__iexact=name).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("There is already a person with this sign-in name."))
        return name

    def clean_password(self) -> str:
        password = str(self.cleaned_data.get("password") or "")
        if password:
            password_validation.validate_password(password, self.instance)
        return password


class AuditFilter(forms.Form):
    """What to look for in the audit record; junk is ignored, field by field."""

    action = forms.CharField(max_length=60, required=False)
    subject = forms.CharField(max_length=64, required=False)
    actor = forms.CharField(max_length=12, required=False)
