"""What the API's routes answer when something fails: one sentence, as JSON."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import wraps

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from specviz.errors import SpecvizError, UsageError
from specviz.web.caller import Refused

Handler = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger(__name__)


def answering(handler: Handler) -> Handler:
    """400 for what the caller can correct, 500 for the rest, always with a sentence."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except UsageError as error:
            return _failed(400, str(error))
        except SpecvizError as error:
            return _failed(500, str(error))
        except (Refused, ClientDisconnect):
            raise  # the guard answers, or nobody is there
        except Exception as error:
            _log.exception("%s failed.", request.url.path)
            what = f"{type(error).__name__}: {error}"
            return _failed(500, f"The app failed ({what}): its log says where.")

    return answer


def _failed(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status)
