"""JSON that a caller sent."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from specviz.errors import UsageError


async def read_json(request: Request) -> Any:
    """The body. Raises UsageError for what is not JSON, or is nested too deep to be read."""
    try:
        return json.loads(await request.body())
    except RecursionError as error:
        raise UsageError("The body must be JSON that is not nested thousands deep.") from error
    except ValueError as error:
        raise UsageError(f"The body must be JSON: {error}.") from error
