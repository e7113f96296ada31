"""Decides from which addresses pages may be fetched: those of the public internet (F22).

Addresses come from a resolver, so it does not matter how they were written (decimal, hexadecimal,
a name). Pure functions.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_PUBLIC_6: Final = IPv6Network("2000::/3")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
"""NAT64, whose last four bytes are an IPv4 address."""
_RELAYED: Final = (
    IPv6Network("2001::/32"),
    IPv6Network("2002::/16"),
    IPv4Network("192.88.99.0/24"),
)
"""Teredo and 6to4, which lead to IPv4 addresses that a relay chooses."""


def is_public(address: str) -> bool:
    """Whether `address`, from a resolver, belongs to the public internet."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        elif found in _TRANSLATED:
            found = IPv4Address(int(found) & 0xFFFF_FFFF)
        elif found not in _PUBLIC_6:
            return False
    is_relayed = any(found in network for network in _RELAYED)
    return found.is_global and not (found.is_multicast or found.is_reserved or is_relayed)
