"""The hosts that a service answers for: a request for another one may be DNS rebinding."""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from candgen.errors import ParameterError
from candgen.service.problems import Problem

HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
NAME = re.compile(r"[A-Za-z0-9._-]{1,253}")
ANY = "*"


class Hosts:
    """Checks the header Host: it must name an allowed host, or where the connection arrived."""

    def __init__(self, allowed: Iterable[str], url: str | None = None) -> None:
        self.allowed = {_normalized(each) for each in (*allowed, *_host_of(url))}
        self._is_own = lru_cache(maxsize=256)(self._is_own_uncached)

    def check(self, values: list[bytes], local: str | None) -> None:
        """Raise a Problem unless there is one value, and it names a host of this service.

        ``local`` is the address of this machine at which the connection arrived. The port is not
        checked: proxies and containers change it.
        """
        found = HOST.fullmatch(values[0].decode("latin-1")) if len(values) == 1 else None
        if found is None:
            raise Problem(400, "the header Host is missing, invalid, or there are several")
        if not self._is_own(found[1], local):
            raise Problem(
                421,
                "this service does not answer for the host in the header Host: its operator can "
                "allow that host with --allowed-host",
            )

    def _is_own_uncached(self, host: str, local: str | None) -> bool:
        name = _normalized(host)
        if ANY in self.allowed or name in self.allowed:
            return True
        if local is None:
            return False
        return name == _normalized(local) or (name == "localhost" and _is_loopback(local))


def check_hosts(names: Iterable[str], url: str | None) -> None:
    """Raise ParameterError for an invalid value of --allowed-host or --url."""
    for name in names:
        if name != ANY and not _is_host(name):
            raise ParameterError(
                f"--allowed-host {name!r}: expected a host name or an address, without a port, "
                "such as names.example.org, or * for all"
            )
    if url is not None and (
        not url.startswith(("http://", "https://")) or not any(map(_is_host, _host_of(url)))
    ):
        raise ParameterError(
            f"--url {url!r}: expected an address such as https://example.org/names"
        )


def _host_of(url: str | None) -> list[str]:
    """Return the host of an address, if it has one.

    >>> _host_of("https://names.example:8443/fo"), _host_of("http://[x/"), _host_of(None)
    (['names.example'], [], [])
    """
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        host = None
    return [] if host is None else [host]


def _is_host(text: str) -> bool:
    return NAME.fullmatch(text) is not None or _as_address(text) is not None


def _normalized(host: str) -> str:
    """Return a host in one spelling.

    >>> [_normalized(each) for each in ("LocalHost.", "[0:0::1]", "127.0.0.1")]
    ['localhost', '::1', '127.0.0.1']
    """
    name = host.strip("[]").lower().rstrip(".")
    return str(_as_address(name) or name)


def _is_loopback(host: str) -> bool:
    address = _as_address(host)
    return address is not None and address.is_loopback


def _as_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
