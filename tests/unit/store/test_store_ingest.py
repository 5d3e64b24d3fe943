"""Runs that come from another process, over JSON and HTTP."""

import copy
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from specviz.config import Prompt, RunStatus
from specviz.engines.replay import events_of
from specviz.errors import StoreError
from specviz.remote.ingest import RemoteStore, post_run
from specviz.store import RecordedRequest, RunSink, Store, recording_from_dict, recording_to_dict
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import Trace, fold
from tests.support.properties import share
from tests.support.store.samples import new_run, num_runs, prompts, request_events, traces


class App(HTTPServer):
    """Answers the ingest route as the app does, or with `reply` if there is one."""

    def __init__(self, store: Store) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = store
        self.reply: tuple[int, bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: App

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status, answer = self.server.reply or self._ingest(body)
        self.send_response(status if self.path == "/api/ingest" else 404)
        self.end_headers()
        self.wfile.write(answer)

    def _ingest(self, body: bytes) -> tuple[int, bytes]:
        run, requests = recording_from_dict(json.loads(body))
        return 200, json.dumps({"stored": self.server.store.ingest(run, requests)}).encode()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def app(store: Store) -> Iterator[App]:
    with App(store) as app:
        thread = threading.Thread(target=app.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield app
        app.shutdown()
        thread.join()


def recorded(request_id: str, num_steps: int = 2) -> RecordedRequest:
    events = tuple(request_events(num_steps, request_id))
    return RecordedRequest(Prompt("p"), events, RunStatus.FINISHED, datetime.now(UTC))


@settings(share(0.5), suppress_health_check=list(HealthCheck))
@given(traces(), prompts)
def test_any_recording_survives_json_and_ingest(
    shared_store: Store, trace: Trace, prompt: Prompt
) -> None:
    run = new_run(status=RunStatus.PARTIAL, finished_at=datetime.now(UTC), error="why")
    request = RecordedRequest(
        prompt, tuple(events_of(trace)), RunStatus.PARTIAL, datetime.now(UTC), "why"
    )
    body = json.dumps(recording_to_dict(run, [request]))
    read = recording_from_dict(json.loads(body))
    assert read == (run, (request,))
    assert shared_store.ingest(*read)
    assert shared_store.read(read_trace, trace.request_id) == trace
    assert shared_store.read(read_run, run.run_id) == run
    (row,) = shared_store.read(read_requests, run.run_id)
    assert (row.prompt, row.error) == (prompt, "why")
    assert row.started_at == request.started_at


def test_a_run_that_is_here_already_stays_as_it_is(store: Store) -> None:
    run = new_run(status=RunStatus.FINISHED)
    assert store.ingest(run, [recorded("a"), recorded("b")])
    assert not store.ingest(run, [recorded("c")])
    assert [row.request_id for row in store.read(read_requests, run.run_id)] == ["a", "b"]


def test_a_run_is_ingested_whole_or_not_at_all(store: Store) -> None:
    store.ingest(new_run(status=RunStatus.FINISHED), [recorded("taken", 5)])
    run = new_run(status=RunStatus.FINISHED)
    with pytest.raises(StoreError, match="same id"):
        store.ingest(run, [recorded("new"), recorded("taken")])
    assert store.read(num_runs) == 1
    with pytest.raises(StoreError, match="no request"):
        store.read(read_trace, "new")
    assert len(store.read(read_trace, "taken").steps) == 5


def change(path: str, value: object) -> Callable[[Any], None]:
    """Set the value at a path of keys like `run.config.k`."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]

    def apply(data: Any) -> None:
        for key in way:
            data = data[key]
        data[last] = value

    return apply


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("run"),
        lambda data: data.pop("requests"),
        lambda data: data["run"].pop("run_id"),
        lambda data: data["run"]["config"].pop("engine"),
        lambda data: data["requests"][0]["events"].pop(0),
        change("run", [1]),
        change("run.surprise", 1),
        change("run.run_id", 7),
        change("run.status", "asleep"),
        change("run.started_at", "yesterday"),
        change("run.started_at", "2026-01-01T00:00:00"),
        change("run.started_at", None),
        change("run.config.k", "five"),
        change("run.config.k", 99),
        change("run.config.traced", 1),
        change("run.config.sampling", None),
        change("run.config.sampling.temperature", "hot"),
        change("run.config.options", {"a": 1}),
        change("run.config.options", 3),
        change("requests", {}),
        change("requests.0.prompt.text", " "),
        change("requests.0.prompt.text", None),
        change("requests.0.events", None),
        change("requests.0.events", [3]),
        change("requests.0.events.0.fidelity", "sharp"),
        change("requests.0.events.1.index", "first"),
        change("requests.0.events.1.index", 2**40),
        change("requests.0.events.1.elapsed_ms", "soon"),
        change("requests.0.events.1.emitted.0.text", 5),
        change("requests.0.events.1.emitted.0.origin", "moon"),
        change("requests.0.events.1.drafted.0.verdict", "maybe"),
        change("requests.0.events.1.drafted.0.u", "0.5"),
        change("requests.0.events.3.e2el_ms", "late"),
        change("requests.0.events.3.prompt_token_ids", ["a"]),
        change("requests.0.events.3.finish_reason", 7),
    ],
)
def test_json_that_is_no_recording_is_refused(spoil: Callable[[Any], None]) -> None:
    data = copy.deepcopy(recording_to_dict(new_run(), [recorded("r")]))
    data = json.loads(json.dumps(data))
    recording_from_dict(data)
    spoil(data)
    with pytest.raises(ValueError) as caught:
        recording_from_dict(data)
    assert str(caught.value)


@pytest.mark.parametrize("data", [None, [], "run", 3])
def test_json_of_another_shape_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="recording is an object"):
        recording_from_dict(data)


def test_a_posted_run_is_in_the_apps_store(app: App) -> None:
    run = new_run(status=RunStatus.FINISHED)
    for _ in range(2):  # posting again is harmless
        post_run(app.url + "/", run, [recorded("posted", 3)])
    assert app.store.read(read_run, run.run_id) == run
    assert len(app.store.read(read_trace, "posted").steps) == 3


def test_a_remote_store_takes_runs_as_the_store_does(app: App, store: Store) -> None:
    def use(sink: RunSink, run_id: str) -> None:
        sink.start_run(new_run(run_id=run_id))
        for name in ("x", "y"):
            recorder = sink.recorder(run_id, Prompt("p"))
            for event in request_events(2, f"{run_id}-{name}"):
                recorder.append(event)
            assert recorder.trace == fold(request_events(2, f"{run_id}-{name}"))
            recorder.finish(RunStatus.FINISHED)
        sink.finish_run(run_id, RunStatus.PARTIAL, error="why")

    use(RemoteStore(app.url), "remote")
    use(store, "local")
    for run_id in ("remote", "local"):
        assert store.read(read_run, run_id).status is RunStatus.PARTIAL
        assert store.read(read_run, run_id).error == "why"
        rows = store.read(read_requests, run_id)
        assert [row.request_id for row in rows] == [f"{run_id}-x", f"{run_id}-y"]
        assert store.read(read_trace, f"{run_id}-x") == fold(request_events(2, f"{run_id}-x"))


def test_a_run_that_could_not_be_posted_can_be_posted_again(app: App) -> None:
    remote = RemoteStore(app.url)
    remote.start_run(new_run(run_id="again"))
    app.reply = (500, b'{"error": "the disk is full"}')
    with pytest.raises(StoreError, match="Run again was not stored: the disk is full"):
        remote.finish_run("again", RunStatus.FINISHED)
    app.reply = None
    remote.finish_run("again", RunStatus.FINISHED)
    assert app.store.read(read_run, "again").status is RunStatus.FINISHED


def test_an_answer_that_is_not_the_apps_is_shown(app: App) -> None:
    app.reply = (404, b"<h1>nginx</h1>")
    with pytest.raises(StoreError, match="HTTP 404 <h1>nginx"):
        post_run(app.url, new_run(), [])


def test_nothing_at_the_url_is_one_sentence() -> None:
    with pytest.raises(StoreError, match=r"was not stored: .* does not answer"):
        post_run("http://127.0.0.1:9", new_run(), [])
