"""Serving the live page: the address, the token and the browser."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Thread, Timer

import uvicorn

from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.viewer.server import create_app
from babywalk.viewer.service import Service

_BROWSER_SECONDS = 0.5  # after which the server answers
_MAX_PORT = 65535
_KEEP_ALIVE = 75  # seconds that an idle connection stays open
_BACKLOG = 128  # connections that wait to be accepted


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page whose port is open; `run` answers requests until it is interrupted."""

    address: str
    server: uvicorn.Server
    listener: socket.socket

    def run(self, *, browser: bool = False) -> None:
        """Answer requests; `browser` opens the page."""
        if browser:
            timer = Timer(_BROWSER_SECONDS, webbrowser.open, [self.address])
            timer.daemon = True
            timer.start()
        with self.listener:
            self.server.run(sockets=[self.listener])


def open_page(service: Service, *, host: str, port: int) -> LivePage:
    """Open a port; on a host that is not loopback the address holds a new token."""
    if not 0 <= port <= _MAX_PORT:
        raise ConfigError(f"Port {port} is out of range; give one from 1 to {_MAX_PORT}, or 0 for any.")
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/" + (f"?token={token}" if token else "")
    config = uvicorn.Config(
        create_app(service, token=token),
        log_level="warning",
        server_header=False,
        access_log=False,
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE,
    )
    Thread(target=_warm_up, args=(service,), daemon=True).start()
    return LivePage(address, uvicorn.Server(config), listener)


def _warm_up(service: Service) -> None:
    """Load the tagger, so that the first instruction does not wait for it."""
    with suppress(BabyWalkError):  # then that instruction gets the error
        service.segment("Walk to the kitchen.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    with ExitStack() as cleanup:
        try:
            # With the protocol named, asyncio sends answers without waiting for more (TCP_NODELAY).
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
            )[0]
            listener = cleanup.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise ConfigError(
                f"Cannot listen on {host}, port {port}: {error.strerror or error}. "
                "Give another --port or --host."
            ) from None
        cleanup.pop_all()  # stays open
        return listener
