"""OpenID Connect: the requests to providers, and the checks of what they answer.

The authorization code flow with PKCE, state and nonce. All three are in an encrypted cookie of the browser that began:
an answer counts in this browser alone, for ten minutes, and once (`app.accounts.identities.use_answer`). Each provider
has an address of its own for answers, and answers that name another issuer are refused, so that providers cannot be
mixed up. Keys and addresses of a provider are read from its configuration, and kept for an hour.

Source: OpenID Connect Core 1.0 and Discovery 1.0; RFC 7636 (PKCE); RFC 9207 (issuer identification); RFC 9700.
"""

import json
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import anyio
import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from vocboard.app.accounts.people import normalised_email
from vocboard.app.accounts.tickets import Tickets
from vocboard.app.errors import BusyError, NotFoundError, ServiceError
from vocboard.app.forms import cleaned
from vocboard.app.settings import OpenIdProvider, Settings

ANSWER_WITHIN = timedelta(minutes=10)
SECONDS_FOR_ANSWER = 10.0  # of the provider, for each request of a sign-in
MAX_ANSWER_BYTES = 512 * 1024
MAX_AT_ONCE = 32  # sign-ins of one web process that wait for a provider
KEPT_SECONDS = 3600.0  # configuration and keys
KEPT_FAILURE_SECONDS = 10.0  # in which a provider that does not answer is not asked again
RENEWED_AFTER_SECONDS = 60.0  # keys, if a token names one that is not among them
LEEWAY_SECONDS = 60  # by which clocks may differ
MAX_IDENTIFIER_LENGTH = 255  # of a subject: section 2 of OpenID Connect Core
MAX_NAME_LENGTH = 100  # it travels in a cookie
# Only signatures with keys that the provider alone has: neither "none" nor those with the client's secret.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
WANTED_SCOPES = ("openid", "profile", "email")
ORCID = "https://orcid.org"

_log = logging.getLogger(__name__)


class ProviderUnavailableError(ServiceError):
    """A provider does not answer, or not as OpenID Connect says."""

    status, code, title = 503, "provider_unavailable", "The sign-in service does not answer"

    def __init__(self, provider: OpenIdProvider) -> None:
        super().__init__(f"{provider.title} does not answer. Try again later, or sign in with your password.")


class AnswerRefusedError(ServiceError):
    """What came back from a provider is not the answer to what this browser asked; the error does not say why."""

    status, code, title = 400, "sign_in_refused", "Not signed in"

    def __init__(self, provider: OpenIdProvider) -> None:
        super().__init__(f"Signing in with {provider.title} did not work, or took too long. Try again.")


@dataclass(frozen=True, slots=True)
class ProvenIdentity:
    """A person, as a provider has just identified them.

    Attributes:
        email: normalised; empty if the provider gives none.
        is_email_verified: whether the provider, or an email of this server, has verified that the person receives it.
        name: as a proposal.
    """

    issuer: str
    subject: str
    email: str = ""
    is_email_verified: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The valid answer to what a browser has asked.

    Attributes:
        state: the random value by which it is accepted once.
        begun: what `begin` was given.
    """

    state: str
    begun: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Configuration:
    """What a provider says about itself."""

    metadata: Mapping[str, Any]
    keys: KeySet
    read_at: float


class OpenId:
    """The providers of a web process."""

    def __init__(self, settings: Settings) -> None:
        self._providers = {provider.name: provider for provider in settings.providers}
        self._site = settings.public_url
        self._tickets = Tickets("openid connect", server_key=settings.secret_key.get_secret_value())
        self._client: httpx.AsyncClient | None = None
        self._configurations: dict[str, _Configuration] = {}
        self._failed_at: dict[str, float] = {}
        self._present = 0

    def provider(self, name: str) -> OpenIdProvider:
        """Return a provider.

        Raises:
            NotFoundError: the server has none with this name.
        """
        if name not in self._providers:
            raise NotFoundError("This server has no such sign-in service.")
        return self._providers[name]

    async def begin(self, name: str, **begun: str) -> tuple[str, str]:
        """Begin to sign in.

        Args:
            begun: what the answer is for.

        Returns:
            The address at the provider to send the browser to, and the value of its cookie until it is back.

        Raises:
            NotFoundError: as `provider`.
            ProviderUnavailableError: the provider does not answer.
            BusyError: too many sign-ins are waiting for providers.
        """
        provider = self.provider(name)
        metadata = (await self._configuration(provider)).metadata
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        # Some providers refuse scopes that they do not know: ORCID knows only `openid`.
        known = metadata.get("scopes_supported")
        scopes = [scope for scope in WANTED_SCOPES if scope == "openid" or not known or scope in known]
        asked = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": self._callback(provider),
            "scope": " ".join(scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),  # type: ignore[no-untyped-call]
            "code_challenge_method": "S256",
        }
        address: str = metadata["authorization_endpoint"]
        content = {"provider": name, "state": state, "nonce": nonce, "verifier": verifier, "begun": begun}
        return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}", self._tickets.issue(
            content, ANSWER_WITHIN
        )

    def answer(self, name: str, cookie: str, *, state: str, issuer: str | None) -> Answer:
        """Check that an answer belongs to what the browser with this cookie has begun, without asking the provider.

        Args:
            issuer: the parameter `iss` of the answer (RFC 9207), if it has one.

        Raises:
            NotFoundError: as `provider`.
            AnswerRefusedError: it does not.
        """
        provider = self.provider(name)
        content = self._tickets.content(cookie)
        asked = content["state"].encode() if content and content["provider"] == name else None
        is_same = asked is not None and secrets.compare_digest(asked, state.encode())
        if not is_same or issuer not in {None, provider.issuer}:
            _log.info("refused an answer of the sign-in service %s: of no sign-in of this browser", name)
            raise AnswerRefusedError(provider)
        return Answer(state, content["begun"])

    async def identity(self, name: str, cookie: str, code: str) -> ProvenIdentity:
        """Ask the provider who has signed in, after `answer`.

        Raises:
            AnswerRefusedError: the provider does not accept the code, or its token is not valid for this sign-in.
            ProviderUnavailableError, BusyError: as `begin`.
        """
        provider, content = self.provider(name), self._tickets.content(cookie)
        if not content:
            raise AnswerRefusedError(provider)
        configuration = await self._configuration(provider)
        try:
            tokens = await self._redeem(provider, configuration.metadata, code, content["verifier"])
            claims = await self._claims(provider, configuration, tokens, content["nonce"])
            claims |= await self._user_info(provider, configuration.metadata, claims, tokens)
        except (JoseError, TypeError, KeyError, ValueError) as error:
            # The kind of the error alone: its text may contain the token.
            _log.warning("refused an answer of the sign-in service %s: %s", name, type(error).__name__)
            raise AnswerRefusedError(provider) from None
        email = normalised_email(str(claims.get("email") or "")) or ""
        return ProvenIdentity(
            issuer=provider.issuer,
            subject=claims["sub"],
            email=email,
            is_email_verified=bool(email) and claims.get("email_verified") is True,
            name=cleaned(str(claims.get("name") or ""))[:MAX_NAME_LENGTH],
        )

    async def close(self) -> None:
        """Close the connections to providers."""
        if self._client is not None:
            await self._client.aclose()

    def _callback(self, provider: OpenIdProvider) -> str:
        return f"{self._site}/sign-in/with/{provider.name}/callback"

    async def _redeem(
        self, provider: OpenIdProvider, metadata: Mapping[str, Any], code: str, verifier: str
    ) -> Mapping[str, Any]:
        """Exchange the code for tokens."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._callback(provider),
            "code_verifier": verifier,
        }
        secret, headers = provider.client_secret.get_secret_value(), {}
        if "client_secret_basic" in metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]):
            # RFC 6749, section 2.3.1: both are encoded first.
            pair = httpx.BasicAuth(quote(provider.client_id, safe=""), quote(secret, safe=""))
            headers["Authorization"] = pair._auth_header
        else:
            form |= {"client_id": provider.client_id, "client_secret": secret}
        return await self._json(provider, "POST", metadata["token_endpoint"], data=form, headers=headers)

    async def _claims(
        self, provider: OpenIdProvider, configuration: _Configuration, tokens: Mapping[str, Any], nonce: str
    ) -> dict[str, Any]:
        """Return the claims of a valid ID token."""
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            token = jwt.decode(tokens["id_token"], configuration.keys, registry=registry)
        except InvalidKeyIdError:
            if time.monotonic() - configuration.read_at < RENEWED_AFTER_SECONDS:
                raise
            self._configurations.pop(provider.name, None)  # another answer may have renewed it meanwhile
            configuration = await self._configuration(provider)
            token = jwt.decode(tokens["id_token"], configuration.keys, registry=registry)
        wanted: dict[str, Any] = {"iss": provider.issuer, "aud": provider.client_id, "nonce": nonce}
        options = {name: {"essential": True, "value": value} for name, value in wanted.items()}
        said = {"nonce": nonce, "client_id": provider.client_id, "access_token": tokens.get("access_token")}
        claims = CodeIDToken(token.claims, token.header, options, said)
        claims.validate(leeway=LEEWAY_SECONDS)
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= MAX_IDENTIFIER_LENGTH:
            raise ValueError("sub")
        return dict(claims)

    async def _user_info(
        self,
        provider: OpenIdProvider,
        metadata: Mapping[str, Any],
        claims: Mapping[str, Any],
        tokens: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return name and email address from the user info endpoint, if the ID token has no address."""
        if claims.get("email") or not metadata.get("userinfo_endpoint") or "access_token" not in tokens:
            return {}
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        found = await self._json(provider, "GET", metadata["userinfo_endpoint"], headers=headers)
        if found["sub"] != claims["sub"]:  # section 5.3.2 of OpenID Connect Core
            raise ValueError("sub")
        return {key: found[key] for key in ("name", "email", "email_verified") if key in found}

    async def _configuration(self, provider: OpenIdProvider) -> _Configuration:
        """Return the configuration and the keys of a provider, which are kept."""
        known = self._configurations.get(provider.name)
        instant = time.monotonic()
        if known is not None and instant - known.read_at < KEPT_SECONDS:
            return known
        if instant - self._failed_at.get(provider.name, -KEPT_FAILURE_SECONDS) < KEPT_FAILURE_SECONDS:
            raise ProviderUnavailableError(provider)
        try:
            address = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
            metadata = await self._json(provider, "GET", address)
            endpoints = [metadata[key] for key in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
            endpoints += [metadata["userinfo_endpoint"]] if metadata.get("userinfo_endpoint") else []
            is_safe = all(urlsplit(one).scheme in {"https", urlsplit(provider.issuer).scheme} for one in endpoints)
            if metadata["issuer"] != provider.issuer or not is_safe:
                raise ValueError("issuer" if is_safe else "endpoints")
            keys = KeySet.import_key_set(await self._json(provider, "GET", metadata["jwks_uri"]))  # type: ignore[arg-type]
        except (ProviderUnavailableError, JoseError, TypeError, KeyError, ValueError) as error:
            self._failed_at[provider.name] = time.monotonic()
            if isinstance(error, ProviderUnavailableError):
                raise
            _log.warning("the configuration of the sign-in service %s is not valid: %s", provider.name, error)
            raise ProviderUnavailableError(provider) from None
        found = self._configurations[provider.name] = _Configuration(metadata, keys, time.monotonic())
        return found

    async def _json(self, provider: OpenIdProvider, method: str, address: str, **request: Any) -> dict[str, Any]:
        """Return the JSON object that a provider answers.

        Raises:
            ProviderUnavailableError: it does not answer, or says that it has an error.
            ValueError: it refuses the request, or answers something else.
        """
        if self._present >= MAX_AT_ONCE:
            raise BusyError("Too many people are signing in at the moment. Try again in a few seconds.", retry_after=5)
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=SECONDS_FOR_ANSWER)
        self._present += 1
        received = bytearray()
        try:
            with anyio.fail_after(SECONDS_FOR_ANSWER):
                async with self._client.stream(method, address, **request) as response:
                    async for part in response.aiter_bytes():
                        received += part
                        if len(received) > MAX_ANSWER_BYTES:
                            raise ValueError("too long")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:  # OSError: also TimeoutError
            _log.warning("the sign-in service %s does not answer: %s", provider.name, error)
            raise ProviderUnavailableError(provider) from None
        finally:
            self._present -= 1
        if response.status_code >= 500 or response.status_code == 429:
            _log.warning("the sign-in service %s answers with the status %d", provider.name, response.status_code)
            raise ProviderUnavailableError(provider)
        found = json.loads(received)
        if response.status_code != 200 or not isinstance(found, dict):
            raise ValueError(f"status {response.status_code}")
        return found


def orcid_of(issuer: str, subject: str) -> str | None:
    """Return the address of the ORCID iD of an identity; None for other providers.

    >>> orcid_of("https://orcid.org", "0000-0002-1825-0097")
    'https://orcid.org/0000-0002-1825-0097'
    """
    return f"{ORCID}/{subject}" if issuer == ORCID else None
