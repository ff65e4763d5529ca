"""The live page: a web server on loopback, or elsewhere behind a token.

Work runs in threads, so that a slow request does not block others: one for the agents, a few for everything
else. Each request is bounded in size and waits a bounded time.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from babywalk.common.errors import BabyWalkError
from babywalk.common.version import __version__
from babywalk.viewer.page import MAX_AGENTS, MAX_TEXT, MODULES, read_static
from babywalk.viewer.service import Asked, Loaded, NotFoundError, Service

_COOKIE = "babywalk_token"
_MAX_BODY = 64 << 10  # bytes; a text of 2,000 characters has at most 24,000 as JSON
_WAITING = 128  # instructions that wait at a time
_BATCH = 32  # instructions that are followed at a time
_SECONDS = 30.0  # for a typed instruction
_LOAD_SECONDS = 600.0  # for agents to walk a data set that is opened for the first time
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Name = Annotated[str, Path(min_length=1, max_length=200)]


class Problem(BaseModel):
    """What was wrong with a request, as a sentence."""

    error: str


class Text(BaseModel):
    """An instruction to cut into Baby-Steps."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=MAX_TEXT)


class Order(Text):
    """An instruction to follow."""

    house: str = Field(min_length=1, max_length=200)
    viewpoint: str = Field(min_length=1, max_length=200)
    heading: float = Field(ge=-360, le=360, allow_inf_nan=False, description="degrees, 0 north, clockwise")
    agents: list[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=MAX_AGENTS)


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Problem} for code in codes}


_READING = _problems(404, 422, 503)
_WRITING = _problems(400, 404, 413, 422, 429, 503)
_JSON = "application/json"
_PORT = re.compile(r":\d*$")

Result = TypeVar("Result")


def create_app(service: Service, *, token: str | None = None, seconds: float = _SECONDS) -> FastAPI:
    """The application; with a token, requests need it, without one, they must be for a name of loopback."""
    app = FastAPI(title="BabyWalk viewer", version=__version__, docs_url=None, redoc_url=None)
    work = _Work(seconds, service.follow)

    @app.exception_handler(BabyWalkError)
    async def _wrong(_: Request, error: BabyWalkError) -> Response:
        return _problem(404 if isinstance(error, NotFoundError) else 422, str(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "path"))
        return _problem(422, f"{where or 'The request'}: {first['msg'][0].lower()}{first['msg'][1:]}.")

    @app.exception_handler(HTTPException)
    async def _failed(_: Request, error: HTTPException) -> Response:
        return _problem(error.status_code, f"{str(error.detail).rstrip('.')}.", headers=error.headers)

    @app.exception_handler(asyncio.TimeoutError)  # before Python 3.11 not the built-in one
    async def _late(_: Request, __: TimeoutError) -> Response:
        return _problem(503, "This takes too long. Try a shorter instruction, or again later.")

    @app.exception_handler(Exception)
    async def _broken(_: Request, __: Exception) -> Response:
        return _problem(500, "The server failed on this request; the terminal of 'babywalk view' shows why.")

    @app.get("/api/catalogue", response_model=dict[str, Any])
    async def catalogue() -> Response:
        """The data sets, houses and agents of this page."""
        return _json(service.catalogue())

    async def opened(task: str, split: str) -> Loaded:
        if known := service.known(task, split):
            return known
        return await work.load(lambda: service.collection(task, split))

    @app.get("/api/collections/{task}/{split}", response_model=dict[str, Any], responses=_READING)
    async def collection(task: Name, split: Name) -> Response:
        """The episodes of a data set with the measures of all agents."""
        return _json((await opened(task, split)).record)

    @app.get("/api/episodes/{task}/{split}/{episode}", response_model=dict[str, Any], responses=_READING)
    async def episode(task: Name, split: Name, episode: Name) -> Response:
        """One episode with the walks of all agents."""
        return _json((await opened(task, split)).episode(episode))

    @app.get("/api/houses/{scan}", response_model=dict[str, Any], responses=_READING)
    async def house(scan: Name) -> Response:
        """A house from above, with the objects in view of each viewpoint."""
        return _json(await work.read(lambda: service.house(scan)))

    @app.post("/api/segment", response_model=dict[str, Any], responses=_WRITING)
    async def segment(order: Text) -> Response:
        """The Baby-Steps and landmarks of an instruction."""
        return _json(await work.segment(lambda: service.segment(order.text)))

    @app.post("/api/follow", response_model=dict[str, Any], responses=_WRITING)
    async def follow(order: Order) -> Response:
        """Let agents follow an instruction."""
        asked = service.check(order.house, order.viewpoint, order.heading, order.text, order.agents)
        return _json(await work.follow(asked))

    for name in ("index.html", "style.css", *(f"{module}.js" for module in MODULES)):
        _add_file(app, name)
    app.add_middleware(_Guard, token=token)
    return app


def _add_file(app: FastAPI, name: str) -> None:
    """Serve one file of the page; no other file can be asked for."""
    content, kind = read_static(name).encode(), f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"

    async def file() -> Response:
        return Response(content, media_type=kind)

    app.add_api_route("/" if name == "index.html" else f"/{name}", file, include_in_schema=False)


class _Work:
    """Threads for work that takes long, with bounds on how much waits and for how long.

    One thread is for instructions: it follows all that wait, up to a limit, in one batch.
    """

    def __init__(
        self, seconds: float, follow: Callable[[Sequence[Asked]], list[bytes | BabyWalkError]]
    ) -> None:
        self._seconds = seconds
        self._follow = follow
        self._waiting: list[tuple[Asked, asyncio.Future[bytes]]] = []
        self._batches: asyncio.Task[None] | None = None  # while some wait
        self._segmenting = 0
        self._instructions = ThreadPoolExecutor(1, "instructions")
        self._loading = ThreadPoolExecutor(1, "loading")
        self._reading = ThreadPoolExecutor(2, "reading")

    async def read(self, call: Callable[[], Result]) -> Result:
        """Run a call that reads data."""
        return await _within(self._seconds, self._reading, call)

    async def load(self, call: Callable[[], Result]) -> Result:
        """Run a call that lets agents walk a data set."""
        return await _within(_LOAD_SECONDS, self._loading, call)

    async def segment(self, call: Callable[[], Result]) -> Result:
        """Run a call that uses the tagger."""
        _check_waiting(self._segmenting)
        self._segmenting += 1
        try:
            return await _within(self._seconds, self._instructions, call)
        finally:
            self._segmenting -= 1

    async def follow(self, asked: Asked) -> bytes:
        """Follow an instruction together with others that wait."""
        _check_waiting(len(self._waiting))
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if self._batches is None:
            self._batches = asyncio.create_task(self._run_batches())
        return await asyncio.wait_for(answer, self._seconds)

    async def _run_batches(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
                await self._run_batch([(asked, answer) for asked, answer in some if not answer.done()])
        finally:
            self._batches = None

    async def _run_batch(self, some: Sequence[tuple[Asked, asyncio.Future[bytes]]]) -> None:
        found: Sequence[bytes | Exception]
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                self._instructions, self._follow, [asked for asked, _ in some]
            )
        except Exception as error:  # of the server itself: every request of the batch fails
            found = [error] * len(some)
        for (_, answer), one in zip(some, found, strict=True):
            if answer.done():  # given up
                continue
            if isinstance(one, Exception):
                answer.set_exception(one)
            else:
                answer.set_result(one)


def _check_waiting(count: int) -> None:
    if count >= _WAITING:
        raise HTTPException(429, "Too many instructions are waiting. Try again in a moment.")


async def _within(seconds: float, pool: ThreadPoolExecutor, call: Callable[[], Result]) -> Result:
    """The result of a call in a pool; a call that has not begun in time is dropped."""
    return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(pool, call), seconds)


class _Guard:
    """Checks the host, the origin, the token and the size of every request, and adds headers to answers."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        refusal = self._refusal(request)
        body = b"" if refusal else await _body(receive)
        if body is None:
            refusal = _problem(413, f"The request is larger than {_MAX_BODY:,} bytes.")
        if refusal:
            await refusal(scope, receive, send)
            return
        await self.app(scope, _replay(body or b"", receive), _with_headers(send))

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if self.token is None and _PORT.sub("", host) not in _LOOPBACK:
            # Another name that leads here may be a web page that tries to read this one.
            return _problem(403, "This page is served for localhost only.")
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return _problem(403, "Requests from other web pages are not answered.")
        if self.token is None:
            return None
        given = request.query_params.get("token")
        if request.url.path == "/" and given is not None and _same(given, self.token):
            answer = RedirectResponse("/", 303, headers=_HEADERS)
            answer.set_cookie(_COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not any(_same(one, self.token) for one in (request.cookies.get(_COOKIE, ""), bearer)):
            return _problem(401, "Open the address with the token that 'babywalk view' has printed.")
        return None


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), token.encode())


async def _body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives a body that has been read."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {name for name, _ in message["headers"]}
            added = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
            missing = [header for header in added if header[0] not in known]
            message = {**message, "headers": [*message["headers"], *missing]}
        await send(message)

    return with_headers


def _json(content: bytes) -> Response:
    return Response(content, media_type=_JSON)


def _problem(status: int, sentence: str, *, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status, headers={**(headers or {}), **_HEADERS})
