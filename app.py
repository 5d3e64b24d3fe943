"""The app: `streamlit run app.py`. Wiring only: pages, routes, and what lives as long as both."""

import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # pyarrow reads it as it is imported

import streamlit as st
from starlette.middleware import Middleware

from specviz import runtime
from specviz.errors import SpecvizError
from specviz.memory import share_arenas
from specviz.opening import warm_up
from specviz.store.shipped import SAMPLE
from specviz.views.shared.address import app_url, base_path, known_hosts, under_base_path
from specviz.web import benchmarks, exchange, ingest, query, servers, watch
from specviz.web.guard import HOSTS, Guard


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Own the store, the jobs and the servers while the app runs."""
    share_arenas()
    with ExitStack() as owned:
        try:
            current = owned.enter_context(runtime.opened(sample=SAMPLE))
            current.store.announce(app_url())
            runtime.finish_start(current, after=warm_up())
        except SpecvizError as error:
            owned.close()
            runtime.end_process(error)
        yield {}


app = st.App(
    "specviz/views/navigation.py",
    routes=under_base_path(
        [
            *watch.routes,
            *ingest.routes,
            *benchmarks.routes,
            *query.routes,
            *exchange.routes,
            *servers.routes,
        ]
    ),
    middleware=[Middleware(Guard, hosts=known_hosts(HOSTS), base_path=base_path())],
    lifespan=lifespan,
)
