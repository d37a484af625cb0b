"""All addresses of the site."""

from __future__ import annotations

from django.contrib.auth import views as auth
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from dedupreview import health, views
from dedupreview.api import api
from dedupreview.people import views as people
from reviews.api import router as reviews_router
from screening.api import router as screening_router

api.add_router("", screening_router)
api.add_router("", reviews_router)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("notices", views.notices, name="notices"),
    path("workers", views.workers, name="workers"),
    path("language", set_language, name="set_language"),
    path("login", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("password", people.change_password, name="password_change"),
    path("keys/", people.own_keys, name="own-keys"),
    path("people/", people.person_list, name="person-list"),
    path("people/add/", people.add_person, name="add-person"),
    path("people/<int:person_id>/", people.edit_person, name="edit-person"),
    path("people/<int:person_id>/keys/", people.person_keys, name="person-keys"),
    path("audit/", people.audit, name="audit"),
    path("api/v1/docs", views.api_docs, name="api-docs"),
    path("api/v1/", api.urls),
    path("", include("screening.urls")),
    path("", include("reviews.urls")),
]

handler400 = "dedupreview.views.bad_request"
handler403 = "dedupreview.views.permission_denied"
handler404 = "dedupreview.views.not_found"
handler500 = "dedupreview.views.server_error"
