"""XML from strangers: no document type, no entities, nothing fetched, no endless depth."""

from __future__ import annotations

import re

from lxml import etree

from screening.documents import Problem

_DECLARES = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


class XmlRefused(Exception):
    """A part that must not or cannot be read. ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def parse(data: bytes, part: str) -> etree._Element:
    """The root element of one XML part. Raises XmlRefused for a document type, entities, or what is not XML."""
    # Office files never carry a document type; one is how entities are declared that grow or reach for other files.
    if _DECLARES.search(data) or _DECLARES.search(data.replace(b"\0", b"")):
        raise XmlRefused(_doctype(part))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise XmlRefused(
            Problem(
                "xml_broken",
                "The part %(part)s cannot be read: %(error)s",
                {"part": part, "error": str(error)[:200]},
            )
        ) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise XmlRefused(_doctype(part))
    return root


def _doctype(part: str) -> Problem:
    return Problem(
        "xml_doctype",
        "The part %(part)s declares a document type or entities; such files are not opened",
        {"part": part},
    )
