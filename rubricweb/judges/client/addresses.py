"""The guard on outbound calls: which addresses a judge may live at.

A URL is checked as text before anything is sent (`check_url`), an address by its number (`check_address`).
`guarded_sockets` sees to it that nothing is sent anywhere else.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import TypeAlias
from urllib.parse import urlsplit

from rubricweb.engine.errors import shortened

ALLOWED = "an http or https URL of a public host, without user name, query or fragment"

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# Where clouds answer with the machine's own credentials. No judge lives there: refused even on private
# networks.
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254")
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")
_V4_COMPATIBLE = ipaddress.IPv6Network("::/96")
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
_MAX_NAME = 253
_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")


class BlockedAddress(ValueError):
    """An address that may not be called. The message names what is wrong with it, and what is allowed."""


def check_url(url: str, allow_private_hosts: bool) -> None:
    """Refuse a URL that may not be called, judging by its text alone: nothing is resolved, nothing is sent.

    Refused are other schemes than http and https, a user name or password, a query or fragment, spaces,
    control characters and backslashes, a missing host, a host no name server could be asked for (an empty
    label, one of more than 63 characters, a character no domain has), a port out of range, and, unless
    `allow_private_hosts`, hosts that are private, loopback or link-local by name or by number (in any
    notation: `127.1`, `0x7f000001`, `[::ffff:10.0.0.1]`). Cloud metadata addresses are refused always. Raises
    BlockedAddress.
    """
    if any(character.isspace() or ord(character) < 32 or character in "\\\x7f" for character in url):
        raise BlockedAddress(f"the URL holds a space, control character or backslash; allowed is {ALLOWED}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BlockedAddress(f"the URL cannot be read ({error}); allowed is {ALLOWED}") from None
    if parts.scheme not in ("http", "https"):
        raise BlockedAddress(f"the URL's scheme is {parts.scheme or 'missing'!r}; allowed is {ALLOWED}")
    if "@" in parts.netloc:
        raise BlockedAddress(f"the URL holds a user name or password; allowed is {ALLOWED}")
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        raise BlockedAddress(f"the URL holds a query or fragment; allowed is {ALLOWED}")
    if not host:
        raise BlockedAddress(f"the URL has no host; allowed is {ALLOWED}")
    if port == 0:
        raise BlockedAddress("the URL's port is 0; allowed is 1 to 65535")
    # As it was written, and as it is asked for: `127。0。0。1` is 127.0.0.1 by then.
    _check_host(host, allow_private_hosts)
    _check_host(_spelled(url, host), allow_private_hosts)


def check_address(address: str, allow_private_hosts: bool) -> None:
    """Refuse a numeric IP address that may not be called. Raises BlockedAddress.

    IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are judged by both.
    """
    bare = address.partition("%")[0]
    try:
        parsed = ipaddress.ip_address(bare)
    except ValueError:
        raise BlockedAddress(f"{address!r} is not an IP address; allowed is a numeric one") from None
    for candidate in (parsed, *_carried(parsed)):
        if candidate in _METADATA:
            raise BlockedAddress(f"{address} is a cloud metadata address; allowed is any other")
        if not allow_private_hosts and not _is_public(candidate):
            raise BlockedAddress(
                f"{address} is not a public address; allowed are public addresses, "
                "unless the operator allows private hosts"
            )


def _check_host(host: str, allow_private_hosts: bool) -> None:
    number = _as_number(host)
    if number is not None:
        check_address(number, allow_private_hosts)
        return
    name = host.rstrip(".").casefold()
    if not allow_private_hosts and (name in _LOCAL_NAMES or name.endswith(_LOCAL_SUFFIXES)):
        raise BlockedAddress(
            f"{host} is a name of the local network; allowed are public hosts, "
            "unless the operator allows private hosts"
        )


def _spelled(url: str, host: str) -> str:
    """The host in ASCII, as the client sends it and asks a name server for it. Raises BlockedAddress.

    The system's resolver raises a UnicodeError for what cannot be spelled, or waits for an answer.
    """
    import httpx2  # a fifth of a second: only for those who have an address to check

    try:
        spelled = httpx2.URL(url).raw_host.decode("ascii")
    except (httpx2.InvalidURL, ValueError):
        raise BlockedAddress(f"the URL's host cannot be spelled; allowed is {ALLOWED}") from None
    if ":" in host:  # by number; a zone, if it has one, is of this machine
        if "%" in host:
            raise BlockedAddress(f"the URL's host names a zone of this machine; allowed is {ALLOWED}")
        return spelled
    name = spelled.removesuffix(".")
    for label in name.split("."):
        if not _LABEL.fullmatch(label):
            wrong = f"holds the label {shortened(label)!r}" if label else "has an empty label"
            raise BlockedAddress(
                f"the URL's host {wrong}; allowed are labels of 1 to 63 letters, digits and dashes"
            )
    if len(name) > _MAX_NAME:
        raise BlockedAddress(f"the URL's host has {len(name)} characters; allowed are {_MAX_NAME}")
    return spelled


def _as_number(host: str) -> str | None:
    """The dotted or colon form of a host given as a number in any notation the C library takes, else None."""
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host.rstrip(".")))
    except (OSError, UnicodeEncodeError):
        return None


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or address in _NAT64:
            return True  # says nothing of its own: the IPv4 address it carries is judged beside it
        if address.is_site_local or address in _NAT64_LOCAL:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _carried(address: Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses an IPv6 address stands for, [] for most."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or address in _V4_COMPATIBLE:
        carried.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [found for found in carried if found is not None]
