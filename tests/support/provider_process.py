"""A provider of OpenID Connect as a process of its own: Django with Django OAuth Toolkit.

Usage: provider_process.py PORT DIRECTORY WORLD, the last in JSON: people and client of `tests.support.provider`

Its issuer is http://127.0.0.1:PORT/o. The issuers of `odd_configurations` have something wrong in their configuration.
"""

import json
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings

LOGIN_PAGE = """<!doctype html><html lang="en"><title>Example University</title><h1>Example University</h1>
<form method="post">{% csrf_token %}{{ form.as_p }}<input type="hidden" name="next" value="{{ next }}">
<button>Sign in</button></form></html>"""


def odd_configurations(here: str) -> dict[str, dict[str, Any]]:
    """Return what some issuers say instead of the real one, by the path of the issuer."""
    return {
        "elsewhere": {"issuer": f"{here}/o"},
        "mirror": {"issuer": f"{here}/mirror", "scopes_supported": ["openid"]},  # with the tokens of the real one
        "forged": {"issuer": f"{here}/forged", "jwks_uri": f"{here}/other-keys"},
        "half": {"issuer": f"{here}/half", "token_endpoint": "http://127.0.0.1:9/", "scopes_supported": None},
        "failing": {"issuer": f"{here}/failing", "token_endpoint": f"{here}/failing/token"},
        "huge": {"issuer": f"{here}/huge", "padding": "x" * 1024 * 1024},
        "unsafe": {"issuer": f"{here}/unsafe", "token_endpoint": "ftp://127.0.0.1/"},
    }


def private_key() -> str:
    """Return a new key of RSA, as text."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def configure(directory: Path) -> None:
    """Set Django up."""
    pages = [("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN_PAGE})]
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": directory / "provider.sqlite3"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        LOGGING_CONFIG=None,
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": private_key(),
            "SCOPES": {"openid": "who you are", "profile": "your name", "email": "your address"},
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        SECRET_KEY="of a test",
        TEMPLATES=[
            {"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {"loaders": pages}},
        ],
        USE_TZ=True,
    )
    django.setup()


def application(here: str, world: dict[str, Any]) -> Any:
    """Return the provider, with its tables, people and client."""
    from django.contrib.auth.models import User  # noqa: PLC0415  # here and below: after `configure`
    from django.contrib.auth.views import LoginView  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.core.wsgi import get_wsgi_application  # noqa: PLC0415
    from django.http import HttpRequest, HttpResponse, JsonResponse  # noqa: PLC0415
    from django.urls import include, path  # noqa: PLC0415
    from django.views.decorators.csrf import csrf_exempt  # noqa: PLC0415
    from jwcrypto import jwk  # noqa: PLC0415
    from oauth2_provider.models import Application  # noqa: PLC0415
    from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: PLC0415
    from oauth2_provider.views import ConnectDiscoveryInfoView  # noqa: PLC0415

    class Validator(OAuth2Validator):  # type: ignore[misc]  # Django has no types
        def get_additional_claims(self, request: Any) -> dict[str, Any]:
            found = {"name": f"{request.user.username.title()} Example"}
            is_verified = request.user.username in verified
            address = {"email": request.user.email, "email_verified": is_verified} if request.user.email else {}
            return {**found, **address}

    def odd(request: HttpRequest, name: str) -> HttpResponse:
        real = json.loads(ConnectDiscoveryInfoView.as_view()(request).content)
        return JsonResponse({**real, **odd_configurations(here)[name]})

    verified = {name for name, _, is_verified in world["people"] if is_verified}
    other = jwk.JWK.generate(kty="RSA", size=2048, kid="another", use="sig", alg="RS256").export_public(as_dict=True)
    settings.OAUTH2_PROVIDER["OAUTH2_VALIDATOR_CLASS"] = Validator
    settings.ROOT_URLCONF = (
        path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
        path("accounts/login/", LoginView.as_view()),
        path("<str:name>/.well-known/openid-configuration", odd),
        path("other-keys", lambda request: JsonResponse({"keys": [other]})),
        path("failing/token", csrf_exempt(lambda request: HttpResponse("no", status=502))),
    )
    served = get_wsgi_application()
    call_command("migrate", verbosity=0)
    for name, address, _ in world["people"]:
        User.objects.create_user(name, address, world["password"])
    Application.objects.create(
        client_id=world["client"],
        client_secret=world["secret"],
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=" ".join(world["callbacks"]),
        algorithm="RS256",
        skip_authorization=True,
    )
    return served


class Server(ThreadingMixIn, WSGIServer):
    """Answers each request in a thread of its own."""

    daemon_threads = True


class Handler(WSGIRequestHandler):
    """Logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


if __name__ == "__main__":
    configure(Path(sys.argv[2]))
    provider = application(f"http://127.0.0.1:{sys.argv[1]}", json.loads(sys.argv[3]))
    with make_server("127.0.0.1", int(sys.argv[1]), provider, Server, Handler) as server:
        server.serve_forever()
