"""The live page: what it answers, and what it refuses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from babywalk.buildings.panorama import VIEWS
from babywalk.common.errors import ConfigError
from babywalk.viewer.page import MAX_TEXT, MODULES
from babywalk.viewer.service import MAX_STEPS, Service

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

from babywalk.viewer import server  # noqa: E402
from babywalk.viewer.live import is_loopback, open_page  # noqa: E402

HOUSE, START = "dollhouse_000", "d000-v000"
TEXT = "Walk past the couch. Stop by the bed."


def order(**changes: Any) -> dict[str, Any]:
    return {
        "house": HOUSE, "viewpoint": START, "heading": 90, "text": TEXT, "agents": ["dollhouse"], **changes
    }  # fmt: skip


@pytest.fixture
def client(live: Any) -> Iterator[Any]:
    with httpx.Client(base_url=live.address) as opened:
        yield opened


def test_the_page_and_its_files_are_served_under_a_strict_policy(client: Any) -> None:
    for name in ("", "style.css", *(f"{module}.js" for module in MODULES)):
        answer = client.get(f"/{name}")
        assert answer.status_code == 200, name
        policy = answer.headers["content-security-policy"]
        assert policy.startswith(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_episodes_have_the_walks_of_all_agents(client: Any) -> None:
    record = client.get("/api/collections/r2r/val_seen").json()
    assert len(record["ids"]) == 12
    episode = client.get(f"/api/episodes/r2r/val_seen/{record['ids'][3]}").json()
    assert episode["text"] == record["texts"][3]
    assert [walk["agent"] for walk in episode["walks"]] == ["expert", "dollhouse", "random"]
    assert client.get(f"/api/houses/{episode['house']}").json()["scan"] == episode["house"]


def test_a_typed_instruction_is_cut_and_followed(client: Any) -> None:
    cut = client.post("/api/segment", json={"text": TEXT}).json()
    assert [TEXT[begin:end] for begin, end in cut["landmarks"]] == ["couch", "bed"]
    assert cut["names"] == ["couch", "bed"]
    (walk,) = client.post("/api/follow", json=order()).json()["walks"]
    house = client.get(f"/api/houses/{HOUSE}").json()
    assert house["names"][walk["path"][0]] == START
    edges = {tuple(sorted(edge)) for edge in house["edges"]}
    assert all(tuple(sorted(move)) in edges for move in zip(walk["path"], walk["path"][1:], strict=False))
    assert [TEXT[begin:end] for begin, end in walk["steps"]] == [TEXT[b:e] for b, e in cut["steps"]]
    assert all(len(views) == VIEWS for *_, views in walk["decisions"])


REFUSED = {
    "unknown house": (order(house="nowhere"), "House 'nowhere' is not known"),
    "unknown viewpoint": (order(viewpoint="x"), f"House {HOUSE} has no viewpoint 'x'."),
    "viewpoint of another house": (order(viewpoint="d001-v000"), "has no viewpoint"),
    "too long": (order(text="a" * (MAX_TEXT + 1)), "text: string should have at most 2000 characters."),
    "no words": (order(text=" ... "), "The instruction has no words."),
    "unknown words": (order(text="Xyzzy qwrtp."), "No word of the instruction is in the agent's vocabulary"),
    "too many steps": (
        order(text="Walk in the room. " * (MAX_STEPS + 1)),
        f"has {MAX_STEPS + 1} Baby-Steps; at most {MAX_STEPS} can be followed",
    ),
    "too many agents": (order(agents=["dollhouse"] * 5), "agents: list should have at most 4 items"),
    "no agent": (order(agents=[]), "agents: list should have at least 1 item"),
    "unknown agent": (order(agents=["oracle"]), "Agent 'oracle' is not known"),
    "agent that cannot read": (order(agents=["random"]), "Agent 'random' is not known"),
    "heading": (order(heading=1000), "heading: input should be less than or equal to 360."),
    "not a number": (order(heading="90"), "heading: input should be a valid number."),
    "unknown field": (order(file="/etc/passwd"), "file: extra inputs are not permitted."),
    "half a character": (b'{"text": "\\ud800"}', "text"),
    "not JSON": (b"{", "JSON decode error"),
}  # fmt: skip


UNKNOWN = {
    case for case in REFUSED if case.startswith(("unknown house", "unknown agent", "unknown viewpoint"))
} | {
    "viewpoint of another house",
    "agent that cannot read",
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_request_gets_a_sentence(client: Any, case: str) -> None:
    given, sentence = REFUSED[case]
    body = (
        {"content": given, "headers": {"content-type": "application/json"}}
        if isinstance(given, bytes)
        else {"json": given}
    )
    answer = client.post("/api/segment" if case == "half a character" else "/api/follow", **body)
    assert answer.status_code == (404 if case in UNKNOWN else 422)
    assert list(answer.json()) == ["error"]
    assert sentence.lower() in answer.json()["error"].lower()


@pytest.mark.parametrize(
    "path",
    [
        "/api/collections/r2r/nowhere",
        "/api/collections/r9r/val_seen",
        "/api/collections/r2r/val_seen:2",
        "/api/episodes/r2r/val_seen/none",
        "/api/houses/..%2F..%2Fetc%2Fpasswd",
        "/api/houses/%00",
        "/..%2Fpage.py",
        "/page.py",
        "/static/main.js",
        "//etc/passwd",
    ],
)
def test_nothing_else_can_be_read(client: Any, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"].endswith(".")


def test_a_large_request_is_refused_before_it_is_read(client: Any) -> None:
    answer = client.post("/api/segment", content=b"x" * 100_000, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "larger than" in answer.json()["error"]


def test_other_hosts_and_origins_are_refused(client: Any) -> None:
    assert client.get("/", headers={"host": "evil.example:80"}).status_code == 403
    assert client.get("/", headers={"host": "localhost:1"}).status_code == 200
    assert client.get("/", headers={"host": "[::1]:1"}).status_code == 200
    other = client.post("/api/segment", json={"text": "Go."}, headers={"origin": "http://evil.example"})
    assert other.status_code == 403
    own = str(client.base_url).rstrip("/")
    assert client.post("/api/segment", json={"text": "Go."}, headers={"origin": own}).status_code == 200


def asking(app: Any) -> Any:
    """A client of an application in this process."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


def test_off_loopback_a_token_is_needed(service: Service) -> None:
    async def ask() -> None:
        async with asking(server.create_app(service, token="sesame")) as client:
            refused = await client.get("/api/catalogue", headers={"host": "example.org"})
            assert refused.status_code == 401
            assert "token" in refused.json()["error"]
            assert (await client.get("/?token=wrong")).status_code == 401
            assert (await client.get("/api/catalogue?token=sesame")).status_code == 401  # in the address once
            assert (await client.get("/", headers={"authorization": "Bearer sesame"})).status_code == 200
            entered = await client.get("/?token=sesame")
            assert (entered.status_code, entered.headers["location"]) == (303, "/")
            assert "HttpOnly" in entered.headers["set-cookie"]
            assert (await client.get("/api/catalogue")).status_code == 200  # by the cookie

    asyncio.run(ask())


def test_the_address_off_loopback_holds_a_new_token(service: Service) -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.org")))
    page = open_page(service, host="0.0.0.0", port=0)
    page.listener.close()
    token = page.address.partition("?token=")[2]
    assert len(token) >= 24
    other = open_page(service, host="127.0.0.1", port=0)
    other.listener.close()
    assert "token" not in other.address


def test_a_port_in_use_is_a_sentence(live: Any, service: Service) -> None:
    port = int(live.address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"Cannot listen on 127.0.0.1, port {port}: .* another --port"):
        open_page(service, host="127.0.0.1", port=port)
    with pytest.raises(ConfigError, match="Port 70000 is out of range"):
        open_page(service, host="127.0.0.1", port=70000)


class Stuck:
    """An agent that waits until it is let go."""

    name = "stuck"

    def __init__(self) -> None:
        self.free = threading.Event()

    def follow(self, orders: Sequence[object]) -> list[dict[str, Any]]:
        self.free.wait(10)
        return [{"agent": self.name} for _ in orders]


@pytest.fixture
def stuck(service: Service) -> Iterator[Service]:
    agent = Stuck()
    yield Service(service.title, service.dataset, service.walkers, [agent], service.offered, service.load)
    agent.free.set()


def test_a_slow_request_does_not_block_others_and_ends_in_time(stuck: Service) -> None:
    async def ask() -> None:
        async with asking(server.create_app(stuck, seconds=0.5)) as client:
            slow = asyncio.create_task(client.post("/api/follow", json=order(agents=["stuck"])))
            await asyncio.sleep(0.05)
            assert (await client.get("/api/catalogue")).status_code == 200
            assert (await client.get("/api/collections/r2r/val_seen")).status_code == 200
            assert (await client.get(f"/api/houses/{HOUSE}")).status_code == 200
            answer = await slow
            assert answer.status_code == 503
            assert answer.json()["error"].startswith("This takes too long.")

    asyncio.run(ask())


def test_more_requests_than_can_wait_are_turned_away(stuck: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_WAITING", 2)

    async def ask() -> None:
        async with asking(server.create_app(stuck, seconds=0.5)) as client:
            some = [client.post("/api/follow", json=order(agents=["stuck"])) for _ in range(3)]
            answers = await asyncio.gather(*some)
            assert sorted(answer.status_code for answer in answers) == [429, 503, 503]

    asyncio.run(ask())


def test_instructions_that_wait_are_followed_together_and_fail_alone(live: Any) -> None:
    texts = [TEXT, "Xyzzy qwrtp.", "Go to the kitchen.", "Walk in the room. " * (MAX_STEPS + 1)]

    async def ask() -> list[Any]:
        async with httpx.AsyncClient(base_url=live.address, timeout=60) as client:
            posts = [client.post("/api/follow", json=order(text=text)) for text in texts for _ in range(3)]
            return list(await asyncio.gather(*posts))

    answers = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [200] * 3 + [422] * 3 + [200] * 3 + [422] * 3
    assert answers[0].json()["walks"][0]["path"] == answers[2].json()["walks"][0]["path"]


def test_a_failure_is_a_sentence_too(stuck: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("a bug")

    monkeypatch.setattr(type(stuck), "house", fail)
    transport = httpx.ASGITransport(server.create_app(stuck), raise_app_exceptions=False)

    async def ask() -> None:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.get(f"/api/houses/{HOUSE}")
            assert answer.status_code == 500
            assert "a bug" not in answer.text
            assert "terminal" in answer.json()["error"]

    asyncio.run(ask())


def test_long_texts_of_any_form_are_cut(client: Any) -> None:
    for text in ("a." * 1000, "Go. " * 500, "(" * 1999 + "a", "a" * 2000, "\U0001f600 go. " * 300):
        cut = client.post("/api/segment", json={"text": text[:MAX_TEXT]}).json()
        assert cut["steps"][0][0] == text.index(text.strip()[0])
        assert cut["steps"][-1][1] <= MAX_TEXT
