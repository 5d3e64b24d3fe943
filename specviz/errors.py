"""All errors whose message is meant for the user.

Every message is one sentence that says what to do. The command line prints it and exits 1,
a page shows it in place of the result; what arrived before the error is kept.

    SpecvizError
    ├── UsageError            the request itself is wrong (exit code 2)
    ├── EngineError           an engine could not do what was asked
    │   ├── ServerUnreachable     nothing answers at the URL
    │   ├── NotAnOpenAIServer     something answers, but not an OpenAI-compatible API
    │   ├── RequestRefused        the server refused the request (model name, context length, ...)
    │   ├── StreamBroken          the server died, stalled or sent malformed data mid-stream
    │   ├── MalformedReply        the server sent what cannot be what it is said to be
    │   └── ServerStartFailed     a server that specviz started did not become healthy
    └── StoreError            the database cannot be opened, read or written
        └── AppUnreachable        no running app answers at the URL
"""


class SpecvizError(Exception):
    """Base of all errors whose message is meant for the user."""


class UsageError(SpecvizError):
    """The request itself is wrong; nothing was attempted."""


class EngineError(SpecvizError):
    """An engine could not do what was asked."""


class ServerUnreachable(EngineError):
    """Nothing answers at the URL."""


class NotAnOpenAIServer(EngineError):
    """Something answers at the URL, but it is not an OpenAI-compatible API."""


class RequestRefused(EngineError):
    """The server understood the request and refused it; the message carries its reason."""


class StreamBroken(EngineError):
    """The stream ended, stalled or became unreadable before the request was finished."""


class MalformedReply(EngineError):
    """What a server sent cannot be what it is said to be; names the field and what came."""


class ServerStartFailed(EngineError):
    """A server that specviz started exited or did not become healthy; carries its own reason."""


class StoreError(SpecvizError):
    """The database cannot be opened, read or written."""


class AppUnreachable(StoreError):
    """No running app, which would do it, answers at the URL."""
