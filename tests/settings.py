"""Settings of the test suite: the project's own, with all state in a temporary folder of this process."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

# A short path: the queue server's socket lies in it.
_FOLDER = tempfile.mkdtemp(prefix="ddr-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)

for _name in [name for name in os.environ if name.startswith("DEDUPREVIEW_")]:
    if _name != "DEDUPREVIEW_SHARED":
        del os.environ[_name]
for _name in ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
    os.environ.pop(_name, None)
os.environ["DEDUPREVIEW_DATA_DIR"] = _FOLDER
# Playwright's synchronous interface runs an event loop in the test's thread; Django would refuse the database there.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from dedupreview.settings import *  # noqa: E402, F403
from dedupreview.settings import DATA_DIR, DATABASES, LOGGING  # noqa: E402

# A file, not memory: the live server's threads and the test share it as processes share the real one.
DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
LOGGING["handlers"]["console"]["class"] = "logging.NullHandler"
