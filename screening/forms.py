"""Forms of collections, uploads and runs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from screening.config import KNOWN_CHANNELS, PRESETS, ConfigError, ScreeningConfig
from screening.meaning import MeaningError, check_model
from screening.models import Collection
from screening.names import CHANNEL_ADVICE, CHANNEL_NAMES, PRESET_WORDS, VERDICT_WORDS
from screening.result import CHANNEL_BITS


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new collection; its short name follows from its name unless one is given."""

    slug = forms.SlugField(
        label=_("Short name"),
        max_length=80,
        allow_unicode=True,
        required=False,
        help_text=_("Used in addresses and commands. Left empty, it follows from the name."),
        error_messages={"invalid": _("Give a short name with letters or digits.")},
    )

    class Meta:
        model = Collection
        fields = ["name", "slug", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not data.get("slug") and data.get("name"):
            data["slug"] = slugify(data["name"], allow_unicode=True)[:80]
        if not data.get("slug"):
            self.add_error("slug", _("Give a short name with letters or digits."))
        elif Collection.objects.filter(slug=data["slug"]).exists():
            self.add_error("slug", _("There is already a collection with this short name."))
        return data


class RunForm(forms.Form):
    """How to screen: a preset is enough; the rest overrides it."""

    preset = forms.ChoiceField(
        label=_("How to compare"),
        choices=[(name, words[0]) for name, words in PRESET_WORDS.items() if name in PRESETS],
        initial="default",
        widget=forms.RadioSelect,
    )
    threshold = forms.FloatField(
        label=_("Least similarity of whole texts"),
        help_text=_(
            "0.05 to 1; the preset's is 0.5. Shared passages are found below it all the same."
        ),
        min_value=0.05,
        max_value=1,
        required=False,
    )
    k = forms.IntegerField(
        label=_("Window length"),
        help_text=_("Characters (or words) per shingle; the preset's is 3."),
        min_value=1,
        max_value=64,
        required=False,
    )
    skip_layout = forms.BooleanField(
        label=_("Leave repeated short lines out"),
        help_text=_(
            "Lines of at most 30 characters that come three times or more in a text, such as page headings, are not compared. The text keeps them."
        ),
        required=False,
    )
    also = forms.MultipleChoiceField(
        label=_("Look in other ways too"),
        choices=[(name, CHANNEL_NAMES[name]) for name in CHANNEL_ADVICE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    channels = forms.MultipleChoiceField(
        label=_("Channels"),
        help_text=_("Ways of finding a pair. None ticked: those of the preset."),
        choices=[(name, CHANNEL_NAMES.get(name, name)) for name in KNOWN_CHANNELS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    reference = forms.ModelChoiceField(
        label=_("Compare with a reference collection"),
        help_text=_(
            "Published texts or a test set. Its texts are not compared among themselves, and a report says for each of them where it stands in these texts."
        ),
        queryset=Collection.objects.none(),
        empty_label=_("none"),
        required=False,
    )
    within = forms.BooleanField(
        label=_("With a reference collection, look for pairs within this one too"), required=False
    )

    def __init__(self, *args: Any, collection: Collection | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = Collection.objects.order_by("slug")
        if collection is not None:
            others = others.exclude(pk=collection.pk)
        self.fields["reference"].queryset = others  # type: ignore[attr-defined]

    @property
    def presets(self) -> list[tuple[str, Any, Any, bool]]:
        """(value, name, plain words, chosen) of each preset."""
        chosen = self["preset"].value()
        return [
            (name, *words, name == chosen)
            for name, words in PRESET_WORDS.items()
            if name in PRESETS
        ]

    @property
    def other_ways(self) -> list[tuple[str, Any, Any, bool]]:
        """(value, name, advice, chosen) of each channel that is offered beside the preset."""
        chosen = self["also"].value() or []
        return [
            (name, CHANNEL_NAMES[name], advice, name in chosen)
            for name, advice in CHANNEL_ADVICE.items()
        ]

    @property
    def advanced_open(self) -> bool:
        return any(
            self[name].errors or self[name].value() for name in ("threshold", "k", "skip_layout", "channels", "reference", "within")
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        values: dict[str, Any] = {"preset": data["preset"]}
        for name in ("threshold", "k"):
            if data.get(name) is not None:
                values[name] = data[name]
        if data.get("skip_layout"):
            values["skip_layout"] = True
        if data.get("channels"):
            values["channels"] = [name for name in KNOWN_CHANNELS if name in data["channels"]]
        if data.get("also"):
            chosen = {*values.get("channels", _channels_of(data["preset"])), *data["also"]}
            values["channels"] = [name for name in KNOWN_CHANNELS if name in chosen]
        values["across_only"] = bool(data.get("reference")) and not data.get("within")
        try:
            data["config"] = config = ScreeningConfig.from_dict(values)
            if "semantic" in config.channels:
                check_model(config.semantic_model)
        except (ConfigError, MeaningError) as error:
            raise ValidationError(_(error.template) % error.params) from None
        return data


def _channels_of(preset: str) -> tuple[str, ...]:
    return ScreeningConfig.preset(preset).channels


class CandidateFilter(forms.Form):
    """What to show of a run's candidates. A field that holds junk is named and left out of account."""

    SORTS = {
        "rank": ("rank",),
        "jaccard": ("-jaccard", "rank"),
        "containment": ("-containment", "rank"),
    }

    q = forms.CharField(label=_("Title or id"), max_length=200, required=False)
    channel = forms.ChoiceField(
        label=_("Channel"),
        choices=[("", _("all")), *((name, CHANNEL_NAMES.get(name, name)) for name in CHANNEL_BITS)],
        required=False,
    )
    min = forms.FloatField(label=_("Similarity from"), min_value=0, max_value=1, required=False)
    max = forms.FloatField(label=_("to"), min_value=0, max_value=1, required=False)
    asked = forms.ChoiceField(
        label=_("Kind"),
        choices=[
            ("", _("all")),
            ("yes", _("to be asked")),
            ("no", _("listed only")),
        ],
        required=False,
    )
    sort = forms.ChoiceField(
        label=_("Order"),
        choices=[
            ("rank", _("strongest evidence first")),
            ("jaccard", _("most similar first")),
            ("containment", _("most contained first")),
        ],
        required=False,
    )


class LeakFilter(forms.Form):
    """What to show of a leak report. A field that holds junk is left out of account."""

    q = forms.CharField(label=_("Title or id"), max_length=200, required=False)
    verdict = forms.ChoiceField(
        label=_("Verdict"), choices=[("", _("all")), *VERDICT_WORDS.items()], required=False
    )
    sort = forms.ChoiceField(
        label=_("Order"),
        choices=[
            ("item", _("as in the reference collection")),
            ("covered", _("most covered first")),
            ("longest", _("longest passage first")),
            ("documents", _("in most texts first")),
        ],
        required=False,
    )
