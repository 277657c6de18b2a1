"""Which addresses may be asked: URLs made plain, hosts that were listed, and no machine inside the house.

The address that was checked is the one that is connected to: a name is resolved once, all its answers are looked at,
and the connection goes to one of them (no DNS rebinding; every redirect connects anew through the same door).
"""

from __future__ import annotations

import ipaddress
import re
import socket
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import httpcore

from fonte.deadlines import Deadline, TimedStream
from fonte.errors import SourceUnreadable

Network: typing.TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: typing.TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver: typing.TypeAlias = Callable[[str, int], Sequence[str]]
"""Host and port to addresses, as text."""
_PORTS = {"http": 80, "https": 443}
_STANDS_FOR_IPV4 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
"""IPv6 networks whose last 32 bits are an IPv4 address: of NAT64, and the old compatible form."""
_INSIDE = (ipaddress.ip_network("64:ff9b:1::/48"), ipaddress.ip_network("fec0::/10"))
"""Networks inside a house that Python takes for public: NAT64 of one's own (RFC 8215), site-local (RFC 3879)."""
_LOGIN = re.compile(r"//[^/?#\s]*@")
_KEPT_SIGNS = "%/:=&?~+!$,;'@()*[]"


def without_login(address: str) -> str:
    """An address as it may be shown: without user name and password, and no longer than a line or two."""
    return _LOGIN.sub("//…@", address[:200])


def plain_url(url: str, base: str = "") -> str:
    """An address in its plain form: ASCII, lower-case host, no fragment, no default port.

    Raises:
        SourceUnreadable: no http or https, a user name in it, no host.
    """
    try:
        parts = urlsplit(urljoin(base, url.strip()) if base else url.strip())
        port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii").lower().rstrip(".")
    except (ValueError, UnicodeError) as error:
        raise SourceUnreadable(f"{without_login(url)!r} is no address: {error}") from error
    if parts.scheme not in _PORTS or not host:
        raise SourceUnreadable(f"{without_login(url)!r} is no address that begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise SourceUnreadable(f"the address at {host} holds a user name or password", hint="such pages are not read")
    shown = f"[{host}]" if ":" in host else host
    where = shown if port in (None, _PORTS[parts.scheme]) else f"{shown}:{port}"
    return urlunsplit(
        (parts.scheme, where, quote(parts.path or "/", safe=_KEPT_SIGNS), quote(parts.query, safe=_KEPT_SIGNS), "")
    )


@dataclass(frozen=True, slots=True)
class Door:
    """Who may be asked: ``hosts`` (``docs.example.com``, ``*.example.com``, ``host:8080``), and private ``networks``.

    A host that is listed without a port may be asked at the ports of http and https.
    """

    hosts: tuple[str, ...]
    networks: tuple[Network, ...] = ()

    def admits(self, url: str) -> bool:
        """Whether the host of a plain address was listed."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        return any(_is_host(host, port, one.lower()) for one in self.hosts)

    def check(self, host: str, addresses: Sequence[str]) -> None:
        """Refuse a host that any of these addresses of it leads into a private network, unless that was listed.

        Raises:
            SourceUnreadable
        """
        for text in addresses:
            address = _unwrapped(ipaddress.ip_address(text.split("%", 1)[0]))
            if any(address.version == one.version and address in one for one in self.networks):
                continue
            inside = any(address.version == one.version and address in one for one in _INSIDE)
            if inside or not address.is_global or address.is_multicast:
                raise SourceUnreadable(
                    f"{host} is at {address}, which is no public address",
                    hint="list its network in [web] addresses if it is meant",
                )


def _is_host(host: str, port: int | None, listed: str) -> bool:
    if listed.startswith("["):
        name, _, wanted = listed[1:].partition("]")
        wanted = wanted.removeprefix(":")
    else:
        name, _, wanted = listed.partition(":")
    if str(port or "") != wanted:
        return False
    return host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name


def _unwrapped(address: _Address) -> _Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in one for one in _STANDS_FOR_IPV4) and int(address) > 1:  # :: and ::1 are addresses of their own
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)


def resolve(host: str, port: int) -> Sequence[str]:
    """The system's answers for a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class GuardedBackend(httpcore.NetworkBackend):
    """Connects through a door, and ends what takes too long, however busy it looks."""

    def __init__(self, door: Door, deadline: Deadline, resolver: Resolver = resolve) -> None:
        self._door, self._deadline, self._resolver = door, deadline, resolver
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to one of the host's addresses, all of which were checked.

        Raises:
            SourceUnreadable: a private address. httpcore.ConnectError: no answer.
        """
        try:
            addresses = self._resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} has no address: {error}") from error
        self._door.check(host, addresses)
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                stream = self._inner.connect_tcp(
                    address, port, self._deadline.left(timeout), local_address, socket_options
                )
                return TimedStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.NetworkStream:
        """Never."""
        del timeout, socket_options
        raise SourceUnreadable(f"{path} is no address of the web")
