"""Settings of the one Django project; what differs between installations comes from the environment."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

from dedupreview import paths


def env_bool(name: str, default: bool) -> bool:
    """A yes-or-no variable; anything but 1/0, true/false, yes/no, on/off stops the start."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no")


def env_int(name: str, default: int) -> int:
    """A whole number; a malformed one stops the start."""
    value = os.environ.get(name, "").strip()
    try:
        return int(value) if value else default
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number") from None


def env_list(name: str, default: list[str]) -> list[str]:
    """Values separated by commas."""
    value = os.environ.get(name, "")
    return [part.strip() for part in value.split(",") if part.strip()] or default


BASE_DIR = paths.BASE_DIR
DATA_DIR: Path = paths.data_dir()

DEBUG = env_bool("DEDUPREVIEW_DEBUG", False)
ALLOWED_HOSTS = env_list("DEDUPREVIEW_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("DEDUPREVIEW_ORIGINS", [])
# Read when first needed: a command that needs no session (screen PATH) must not need a writable data directory either.
SECRET_KEY: Any = os.environ.get("DEDUPREVIEW_SECRET_KEY") or SimpleLazyObject(
    lambda: paths.read_or_create_secret(DATA_DIR / "secret_key")
)

INSTALLED_APPS = [
    "dedupreview",
    "dedupreview.people",
    "screening",
    "reviews",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    # django.contrib.admin is left out on purpose: its pages know nothing of blindness, and any staff account may
    # empty the queue through django-rq's.
    "django_rq",
    "axes",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dedupreview.security.security_headers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "dedupreview.context.language",
    "dedupreview.api.json_errors",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "dedupreview.urls"
WSGI_APPLICATION = "dedupreview.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dedupreview.context.site",
            ],
        },
    },
]

# --- Database ---------------------------------------------------------------------------------------------------------


def database() -> dict[str, Any]:
    """The database of ``DATABASE_URL``, else SQLite in the data directory.

    On SQLite, WAL lets readers go on while one writes, and IMMEDIATE takes the write lock at BEGIN: a lock upgrade in
    mid-transaction fails at once, whatever the timeout. Never set ATOMIC_REQUESTS: every page would take that lock.
    """
    parsed: dict[str, Any] = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA_DIR / "db.sqlite3",
    }
    if url := os.environ.get("DATABASE_URL"):
        parsed = dict(dj_database_url.parse(url))
    if parsed["ENGINE"] == "django.db.backends.sqlite3":
        parsed["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-32000;"
            ),
        }
    else:
        # Seats are guarded by locks and compare-and-set, which are written for READ COMMITTED. A server set to SERIALIZABLE
        # would only make forty people at once fail and try again without end.
        parsed["OPTIONS"] = parsed.get("OPTIONS", {}) | {"isolation_level": 2}
        parsed["CONN_MAX_AGE"] = env_int("DEDUPREVIEW_CONN_MAX_AGE", 60)
        parsed["CONN_HEALTH_CHECKS"] = True
    return parsed


DATABASES = {"default": database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Queue ------------------------------------------------------------------------------------------------------------

QUEUE_URL = paths.queue_url(DATA_DIR)
RQ_QUEUES = {
    "default": {
        "URL": QUEUE_URL,
        "DEFAULT_TIMEOUT": env_int("DEDUPREVIEW_JOB_TIMEOUT", 3600),
        # Jobs carry ids only. JSON keeps a queue that somebody else can write to from running code of theirs.
        "SERIALIZER": "rq.serializers.JSONSerializer",
    }
}
RQ_SHOW_ADMIN_LINK = False

# --- People -----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "people.Person"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

# A whole office may share one address: lock the pair of name and address, not either alone.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=10)
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "dedupreview.views.locked_out"

HTTPS = env_bool("DEDUPREVIEW_HTTPS", False)
SESSION_COOKIE_NAME = "dedupreview_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_NAME = "dedupreview_csrf"
CSRF_FAILURE_VIEW = "dedupreview.views.csrf_failure"
CSRF_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_NAME = "dedupreview_language"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Whether the rest of the domain is ready for HSTS is not this application's to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# --- Language and time ------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = os.environ.get("DEDUPREVIEW_TIME_ZONE") or "Asia/Shanghai"
USE_I18N = True
USE_TZ = True

# --- Files ------------------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served from where they lie, revalidated by ETag: nothing to collect, and no stale module after an update.
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 0

STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR},
    },
    # Originals, runs and tables: bulk that rows only point at.
    "artefacts": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR},
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# What one hand-over may be; the defaults and all that can be limited are in screening/intake/limits.py.
INTAKE_LIMITS = {
    "file_bytes": env_int("DEDUPREVIEW_MAX_FILE_BYTES", 1 << 30),
    "text_bytes": env_int("DEDUPREVIEW_MAX_TEXT_BYTES", 64 << 20),
    "rows": env_int("DEDUPREVIEW_MAX_ROWS", 2_000_000),
    "archive_bytes": env_int("DEDUPREVIEW_MAX_ARCHIVE_BYTES", 2 << 30),
    "office_bytes": env_int("DEDUPREVIEW_MAX_OFFICE_BYTES", 256 << 20),
    "pages": env_int("DEDUPREVIEW_MAX_PAGES", 3000),
    "seconds": env_int("DEDUPREVIEW_READER_SECONDS", 60),
    "reader_bytes": env_int("DEDUPREVIEW_READER_BYTES", 1 << 30),
}

# What the page that verifies tables takes; larger ones are verified by the command.
TABLE_LIMITS = {
    "upload_bytes": env_int("DEDUPREVIEW_MAX_TABLE_BYTES", 1 << 30),
    "unpacked_bytes": env_int("DEDUPREVIEW_MAX_TABLE_UNPACKED_BYTES", 2 << 30),
}

# A folder is uploaded as one request with one part per file and one field per path.
DATA_UPLOAD_MAX_NUMBER_FILES = 20_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 50_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024

# --- Logging ----------------------------------------------------------------------------------------------------------

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "dedupreview.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "json" if env_bool("DEDUPREVIEW_LOG_JSON", False) else "plain",
        }
    },
    "root": {
        "handlers": ["console"],
        "level": os.environ.get("DEDUPREVIEW_LOG_LEVEL", "INFO").upper(),
    },
    "loggers": {
        # One line per enqueued or finished job is noise beside the run's own row.
        "rq.worker": {"level": "WARNING"},
        "django.server": {"handlers": [], "propagate": True},
        "axes": {"level": "WARNING"},
    },
}
