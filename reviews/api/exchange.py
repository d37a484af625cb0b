"""The API's route about handing pairs to other labelling tools."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpRequest
from ninja import Router

from dedupreview.api import Failure
from dedupreview.people.access import may
from reviews.api.common import round_of
from reviews.exchange import FILES, attachment

router = Router(tags=["reviews"])

File = Literal[
    "label-studio.json",
    "label-studio.xml",
    "doccano.jsonl",
    "doccano-labels.json",
    "pairs.csv",
    "pairs.xlsx",
]


@router.get(
    "/rounds/{round_id}/pairs/{kind}/{file}",
    response={404: Failure},
    openapi_extra={
        "responses": {
            200: {
                "description": "The file",
                "content": {
                    kind: {"schema": {"type": "string", "format": "binary"}}
                    for kind in dict.fromkeys(FILES.values())
                },
            }
        }
    },
)
def hand_out_pairs(
    request: HttpRequest, round_id: str, kind: Literal["tasks", "settled"], file: File
) -> Any:
    """The pairs of a round for another labelling tool: all without labels, or the settled ones with their conclusions."""
    if not may(request.user, "see_tables"):
        raise Http404
    return attachment(round_of(request, round_id), file, kind)
