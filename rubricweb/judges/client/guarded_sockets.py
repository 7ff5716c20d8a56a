"""Sockets that go to checked addresses only.

A name's addresses are checked when it is resolved (`GuardedResolver`), and the address itself at the moment
a socket is made (`guarded_connector`). The latter is what holds: whatever parses a URL differently or
resolves a name twice, the socket goes to an address that was checked, and redirects are not followed.
"""

from __future__ import annotations

import socket
import ssl
from typing import TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from rubricweb.judges.client.addresses import BlockedAddress, check_address

# What aiohttp hands a socket factory: family, type, protocol, canonical name, socket address.
AddressInfo: TypeAlias = tuple[
    int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]
]


class GuardedResolver(AbstractResolver):
    """Resolves names for aiohttp and refuses those with any address that may not be called.

    aiohttp connects to exactly what is returned here, so an answer that was checked cannot be swapped for
    another by asking again (DNS rebinding). One private address among public ones refuses the whole name.
    """

    def __init__(self, allow_private_hosts: bool, inner: AbstractResolver | None = None) -> None:
        self._allow_private_hosts = allow_private_hosts
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The checked addresses of `host`. Raises BlockedAddress, or OSError when the name is unknown."""
        if self._inner is None:  # aiohttp's resolver wants a running loop to be made in
            self._inner = aiohttp.ThreadedResolver()
        addresses = await self._inner.resolve(host, port, family)
        for result in addresses:
            try:
                check_address(result["host"], self._allow_private_hosts)
            except BlockedAddress as error:
                raise BlockedAddress(f"{host} resolves to a refused address: {error}") from None
        return addresses

    async def close(self) -> None:
        """Close the resolver underneath."""
        if self._inner is not None:
            await self._inner.close()


def guarded_connector(
    allow_private_hosts: bool, *, resolver: AbstractResolver | None = None, tls: ssl.SSLContext | None = None
) -> aiohttp.TCPConnector:
    """A connector whose every socket goes to a checked address; make it inside a running loop.

    `resolver` stands in for the system's (tests pass one that lies). The number of connections is not limited
    here: who asks bounds its requests.
    """

    def checked_socket(info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        check_address(str(address[0]), allow_private_hosts)
        return socket.socket(family=family, type=kind, proto=protocol)

    return aiohttp.TCPConnector(
        resolver=GuardedResolver(allow_private_hosts, resolver),
        socket_factory=checked_socket,
        ssl=tls if tls is not None else True,
        limit=0,
        keepalive_timeout=30,
    )
