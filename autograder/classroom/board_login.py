"""Who asks the board: a hub's logins and tokens, with bounds on what anybody can add to this process."""

from __future__ import annotations

import hmac
import json
import re
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from jupyterhub.services.auth import HubOAuth, _ExpiringDict
from tornado.web import RequestHandler, create_signed_value, decode_signed_value
from traitlets import default

MOST_KEPT = 5000  # answers of the hub
STATE = "state"  # the name under which a begun login is signed
LONGEST_ADDRESS = 500  # of a page, to lead there after a login
LONGEST_SESSION, TOKEN = 64, re.compile(r"[!-~]{1,500}")


class Latest(_ExpiringDict):  # type: ignore[misc]
    """Keeps no more than the latest of what anybody can add to."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Keep a value, and let the oldest go where there are too many."""
        while len(self) >= MOST_KEPT:
            self.pop(next(iter(self.values)), None)
        super().__setitem__(key, value)


class BoundedOAuth(HubOAuth):  # type: ignore[misc]
    """Logs teachers in, and asks the hub who somebody is; what is kept of that is bounded, as anybody can ask."""

    @default("cache")  # type: ignore[untyped-decorator]
    def _bounded_cache(self) -> Latest:
        return Latest(self.cache_max_age)

    @property
    def secret(self) -> bytes:
        """What cookies and begun logins are signed with; they outlive this process."""
        return sha256(f"board:{self.api_token}".encode()).digest()

    def generate_pkce_code_challenge(self, method: str = "S256") -> tuple[str, str, str]:
        """Return a secret from which the hub will know who began a login, what the hub is told of it now, and how."""
        verifier = self._verifier(secrets.token_urlsafe(16))
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        return verifier, challenge, method

    def _verifier(self, login: str) -> str:
        return f"{login}.{hmac.new(self.secret, login.encode(), 'sha256').hexdigest()}"

    def generate_state(self, next_url: str | None = None, code_verifier: str = "", **more: Any) -> str:
        """Return what a begun login is known by. It holds all that is to be known: a flood drives out what is kept."""
        login = code_verifier.partition(".")[0] or secrets.token_urlsafe(16)
        state = {"login": login, "next_url": next_url if len(next_url or "") <= LONGEST_ADDRESS else None, **more}
        return create_signed_value(self.secret, STATE, json.dumps(state)).decode()

    def _decode_state(self, state_id: str, /) -> dict[str, Any]:
        """Return what a begun login holds; nothing where another has signed it, or it is old."""
        days = self.oauth_state_max_age / 86400
        text = decode_signed_value(self.secret, STATE, state_id, max_age_days=days)
        state: dict[str, Any] = json.loads(text) if text else {}
        return {**state, "code_verifier": self._verifier(state["login"])} if state else {}

    def get_session_id(self, handler: RequestHandler) -> str:
        """Return which of a browser's sessions asks, under which answers are kept; none that is longer than a hub's."""
        name = str(super().get_session_id(handler))
        return name if len(name) <= LONGEST_SESSION else ""

    def get_token(self, handler: RequestHandler, in_cookie: bool = True) -> str | None:
        """Return a request's token, if it can be one: it becomes part of a request to the hub."""
        token: str | None = super().get_token(handler, in_cookie)
        return token if token and TOKEN.fullmatch(token) else None
