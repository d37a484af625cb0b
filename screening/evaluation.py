"""Labelled pairs and the families that their labels make of documents. Pure."""

from __future__ import annotations

from collections.abc import Iterable

FAMILY = frozenset({"copy", "revision", "1"})
"""Labels that make two documents one family: they come from one text, so they must not be split."""

LabelledPair = tuple[str, str, str]
"""(left doc_id, right doc_id, label) with the labels of the design; ``1`` and ``0`` mean copy and not_copy."""


def families(labels: Iterable[LabelledPair]) -> dict[str, str]:
    """The family of each document: connected components over copy and revision labels, named by their first doc_id.

    Documents that no such label names are families of their own and not listed.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for left, right, label in labels:
        if label in FAMILY:
            one, other = sorted((root(left), root(right)))
            parent[other] = one
    return {name: root(name) for name in sorted(parent)}

