"""Which feedback waits to be fetched on a hub, as nbgrader knows it: students have nbgrader there."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any


def feedback_to_fetch() -> set[str]:
    """Return the lessons of which a hub has feedback that was not fetched, or has changed since it was."""
    if "JUPYTERHUB_USER" not in os.environ:
        return set()
    try:
        from nbgrader.apps import ListApp
        from nbgrader.auth import Authenticator
        from nbgrader.exchange import ExchangeFactory

        app = ListApp(log_level=logging.CRITICAL)
        app.initialize([])
        own = {"coursedir": app.coursedir, "authenticator": Authenticator(parent=app), "parent": app}
        lessons = ExchangeFactory(parent=app).List(**own, cached=True).start()
        return {lesson["assignment_id"] for lesson in lessons if any(map(is_to_fetch, lesson["submissions"]))}
    except (Exception, SystemExit):  # the exchange is away, or nbgrader is set up in another way: no news
        return set()


def is_to_fetch(submission: Mapping[str, Any]) -> bool:
    """Say whether there is feedback for a submission that its student does not have."""
    fetched = submission["has_local_feedback"] and not submission["feedback_updated"]
    return submission["has_exchange_feedback"] and not fetched
