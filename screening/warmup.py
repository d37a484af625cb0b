"""Loads and compiles everything that a screening run needs, so that the first run does not pay for it."""

from __future__ import annotations

import fcntl
import hashlib
import logging

import jieba

from dedupreview import paths
from screening import jobs as _jobs  # noqa: F401 - loaded for the sake of the first job
from screening.config import CHANNELS, ScreeningConfig
from screening.documents import InputDocument
from screening.pipeline import screen

TEXTS = (
    "本中心每周一上午开放登记，携带证件原件即可办理，登记完成后三个工作日内发放凭证，请妥善保管，逾期作废。",
    "本中心每周二上午开放登记，携带证件原件即可办理，登记完成后三个工作日内发放凭证，请妥善保管，逾期作废。",
    "图书馆的阅览室在冬季延长开放时间，读者凭卡入内，不得携带食物与饮料。",
)


def warm_up() -> None:
    """Load the dictionary of the word splitter and put three tiny texts through the whole pipeline.

    The first worker of a new installation compiles; the others wait for it and read what it wrote.
    """
    # By default the dictionary is cached in the system's shared temporary folder, where anybody could plant one.
    cache = paths.make_private(paths.data_dir() / "cache")
    jieba.dt.tmp_dir = str(cache)
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    documents = [
        InputDocument(
            doc_id=str(number), raw=text, sha256=hashlib.sha256(text.encode()).hexdigest()
        )
        for number, text in enumerate(TEXTS)
    ]
    with (cache / "warm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        screen(documents, ScreeningConfig(channels=CHANNELS))
