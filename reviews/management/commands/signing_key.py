"""Show, replace or revoke the key that signs review tables."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from dedupreview.commands import ProjectCommand
from reviews.tables import signing


class Command(ProjectCommand):
    help = "Show the fingerprint of the key that signs tables; make a new key or revoke one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rotate", action="store_true", help="make a new key first")
        parser.add_argument("--revoke", metavar="FINGERPRINT", help="list a key as revoked first")
        parser.add_argument("--why", default="", help="a note beside the revoked key")
        parser.add_argument("--public", action="store_true", help="print the public key as PEM too")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["rotate"]:
            signing.rotate()
        if options["revoke"]:
            signing.revoke(options["revoke"], options["why"])
        if options["public"]:
            self.stdout.write(signing.public_pem().decode().rstrip())
        self.stdout.write(f"fingerprint: {signing.fingerprint()}")
