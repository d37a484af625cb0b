"""Forms of rounds, sign-offs and label sets."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from dedupreview.people.models import Person, Role
from reviews.models import LabelSet, ReviewRound, SignOff
from screening.models import ScreeningRun

LARGEST_LABEL_FILE = 64 * 1024 * 1024


class PeopleField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, person: Any) -> str:
        return f"{person} · {person.get_role_display()}"


class RoundForm(forms.Form):
    """Three choices make a good round: texts (the run), people, judgments per pair. The rest has defaults."""

    name = forms.CharField(label=_("Name of the round"), max_length=200)
    annotators = PeopleField(
        label=_("Who judges"),
        queryset=Person.objects.none(),
        help_text=_("At least as many people as judgments per pair."),
        error_messages={"required": _("Choose who judges.")},
    )
    arbitrators = PeopleField(
        label=_("Who arbitrates"),
        queryset=Person.objects.none(),
        help_text=_("Decides where judgments differ, and must not judge in this round."),
        error_messages={"required": _("Choose who arbitrates.")},
    )
    judgments = forms.TypedChoiceField(
        label=_("Judgments per pair"),
        choices=[(1, _("1")), (2, _("2 (usual)")), (3, _("3"))],
        coerce=int,
        initial=2,
        widget=forms.RadioSelect,
    )
    limit = forms.IntegerField(
        label=_("At most so many pairs"),
        help_text=_("Strongest evidence first. Left empty: all pairs to be asked."),
        min_value=1,
        max_value=10_000_000,
        required=False,
    )
    again = forms.BooleanField(
        label=_("Ask again about pairs that are decided already"),
        help_text=_(
            "Off: a pair decided in an earlier round keeps its conclusion and is not asked."
        ),
        required=False,
    )
    fewest = forms.BooleanField(
        label=_("Of likely copies ask only as many as needed"),
        help_text=_("What follows from other copies is listed as implied and not asked."),
        required=False,
        initial=True,
    )
    sample = forms.IntegerField(
        label=_("A sample: at most so many of each kind"),
        help_text=_("Drawn by chance, repeatably. Left empty: no sample."),
        min_value=1,
        max_value=1_000_000,
        required=False,
    )
    stratum = forms.ChoiceField(
        label=_("What divides the kinds"),
        choices=[
            ("suggestion", _("What screening suggests")),
            ("channel", _("How the pair was found")),
            ("source", _("Where the two texts come from")),
        ],
        initial="suggestion",
        required=False,
    )
    deadline = forms.DateTimeField(
        label=_("Deadline"),
        help_text=_("No pairs are given out after it; what is judged stays."),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    gold = forms.ModelChoiceField(
        label=_("Known answers to hide among the pairs"),
        queryset=LabelSet.objects.none(),
        help_text=_("Pairs of a label set that look like any other; results after closing."),
        required=False,
    )
    hidden = forms.IntegerField(
        label=_("How many known answers"),
        min_value=1,
        max_value=10_000,
        required=False,
        initial=20,
    )
    pass_mark = forms.IntegerField(
        label=_("Practice round: pass mark in percent"),
        help_text=_("Filled in, the round asks known answers only, of everybody."),
        min_value=1,
        max_value=100,
        required=False,
    )
    calibration = forms.ModelChoiceField(
        label=_("Only for people who passed this practice round"),
        queryset=ReviewRound.objects.none(),
        required=False,
    )
    guideline = forms.CharField(
        label=_("Guideline"),
        help_text=_("What people judge by, in plain words. Left empty: the usual text."),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    show_scores = forms.BooleanField(
        label=_("Show scores and suggestions to those who judge"),
        help_text=_("Off is right for most: a score in sight sways the judgment."),
        required=False,
    )

    def __init__(self, *args: Any, run: ScreeningRun, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        own = {"collection": run.collection}
        self.fields["gold"].queryset = LabelSet.objects.filter(**own)  # type: ignore[attr-defined]
        self.fields["calibration"].queryset = ReviewRound.objects.filter(  # type: ignore[attr-defined]
            pass_mark__isnull=False, **own
        )
        active = Person.objects.filter(is_active=True).order_by("role", "username", "pk")
        self.fields["annotators"].queryset = active.filter(  # type: ignore[attr-defined]
            role__in=[Role.ANNOTATOR, Role.ARBITRATOR]
        )
        self.fields["arbitrators"].queryset = active.filter(role=Role.ARBITRATOR)  # type: ignore[attr-defined]

    @property
    def advanced_open(self) -> bool:
        return any(
            self[name].errors or self[name].value()
            for name in (
                "limit",
                "again",
                "sample",
                "guideline",
                "show_scores",
                "deadline",
                "gold",
                "pass_mark",
                "calibration",
            )
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        annotators, arbitrators = data.get("annotators"), data.get("arbitrators")
        if annotators is None or arbitrators is None:
            return data
        if both := set(annotators) & set(arbitrators):
            names = ", ".join(sorted(str(person) for person in both))
            self.add_error(
                "arbitrators",
                _("%(names)s cannot both judge and arbitrate in one round.") % {"names": names},
            )
        if "judgments" in data and len(annotators) < data["judgments"]:
            self.add_error(
                "annotators",
                _("%(need)s judgments per pair need as many people; %(have)s chosen.")
                % {"need": data["judgments"], "have": len(annotators)},
            )
        return data


class GuidelineForm(forms.Form):
    """A new version of a round's guideline."""

    text = forms.CharField(
        label=_("Guideline"), max_length=100_000, widget=forms.Textarea(attrs={"rows": 16})
    )


class SignOffForm(forms.Form):
    """A signature under a stage of a round; the password is asked again because it stands for the hand."""

    stage = forms.ChoiceField(label=_("Stage"), choices=SignOff.Stage.choices)
    meaning = forms.CharField(
        label=_("What you sign"),
        help_text=_("One sentence; it is exported with the table."),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class LabelSetForm(forms.Form):
    """A labelled set to look through before anything is stored."""

    name = forms.CharField(
        label=_("Name of the set"),
        max_length=200,
        help_text=_("Says where the labels come from; it stays with every use of them."),
    )
    file = forms.FileField(
        label=_("File"),
        help_text=_("CSV, XLSX or JSON lines with the columns left, right and label."),
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.xlsx,.jsonl,.json,.txt"}),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_LABEL_FILE:
            raise ValidationError(_("A label file may have 64 MB at most."))
        return file


class VerifyTableForm(forms.Form):
    """A table that somebody handed in, and the fingerprint it must have been signed with."""

    file = forms.FileField(
        label=_("Zip of the table"),
        help_text=_("As it was downloaded, or the zipped folder. Nothing of it is kept."),
        widget=forms.FileInput(attrs={"accept": ".zip"}),
    )
    fingerprint = forms.CharField(
        label=_("Key fingerprint"),
        required=False,
        max_length=100,
        help_text=_(
            "SHA256:… as you were told by another way than the table. Without it, the keys of this installation count."
        ),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
