"""Whatever a route raises, its caller gets a sentence, and the app's log the rest."""

from __future__ import annotations

import logging

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from specviz.errors import StoreError, UsageError
from specviz.web import benchmarks, exchange, ingest, query
from specviz.web.answer import answering


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (UsageError("Give a K."), 400, "Give a K."),
        (StoreError("The disk is full."), 500, "The disk is full."),
        (KeyError("run"), 500, "The app failed (KeyError: 'run'): its log says where."),
    ],
)
def test_an_error_is_a_sentence(
    error: Exception, status: int, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(request: Request) -> Response:
        raise error

    client = TestClient(Starlette(routes=[Route("/api/x", answering(fails))]))
    with caplog.at_level(logging.ERROR):
        answer = client.get("/api/x")
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    logged = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert logged == ([error] if isinstance(error, KeyError) else [])


@pytest.mark.parametrize(
    "route",
    [*benchmarks.routes, *exchange.routes, *ingest.routes, *query.routes],
    ids=lambda route: route.path,
)
def test_every_route_of_the_api_answers_so(route: Route) -> None:
    """No runtime is open here, so every one of them fails."""
    path = route.path.replace("{benchmark_id}", "b").replace("{action}", "pause")
    method = "POST" if "POST" in (route.methods or ()) else "GET"
    body = {"sql": "SELECT 1", "plan": "x"}
    answer = TestClient(Starlette(routes=[route])).request(method, path, json=body)
    assert answer.status_code in (400, 500)
    assert answer.json()["error"].endswith((".", "…"))
