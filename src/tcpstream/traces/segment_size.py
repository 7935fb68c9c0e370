"""The payload of a full packet on the wire, where offloading shows packets that were split later or merged before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Bytes of IP and TCP headers without options, by the length of an address.
HEADERS = {4: 40, 16: 60}
_ETHERNET, _JUMBO = 1500, 9000
_SMALLEST = 64
#: A size is common that this share of the packets has.
_COMMON = 0.01
#: Of two sizes the one tried first is taken if it explains this share of what the other does.
_AS_WELL = 0.9
#: A size that explains less than this share of the payload explains nothing.
_LEAST = 0.2
#: Of so many sizes the fractions are tried.
_SPLIT = 5
#: Packets in a packet of offloading, at most (64 KiB).
_MOST_PIECES = 128


def segment_size(payload: NDArray[np.uint32], header: int, address: int, announced: tuple[int, int]) -> int:
    """Return the payload of a full packet [bytes].

    Parameters
    ----------
    payload : array of int
        Of the data packets [bytes], at least one.
    header : int
        IP and TCP headers of a data packet, options included [bytes].
    address : {4, 16}
        Length of an IP address [bytes].
    announced : (int, int)
        Maximum segment sizes [bytes] that the receiver and the sender announced; 0 where that was not seen.

    Notes
    -----
    A sender is bound by what its receiver announces, less the options (RFC 9293, Section 3.7.1; RFC 6691), and by its
    own link, of which its data tell: what it announces itself binds the other end. As long as no packet is larger than
    either, the largest one is full. Else offloading may have made it: then a full packet is what most of the payload
    consists of in whole multiples. The limits are tried first, then the common sizes, then their fractions.
    """
    options = header - HEADERS[address]
    ethernet, jumbo = (max(link - header, _SMALLEST) for link in (_ETHERNET, _JUMBO))
    limits = [mss - options for mss in announced if mss - options >= _SMALLEST] or [ethernet]
    most = announced[0] if announced[0] - options >= _SMALLEST else jumbo  # headers may be added on the way
    expected = min(*limits, most)
    sizes, counts = np.unique(payload, return_counts=True)
    largest, weight = int(sizes[-1]), sizes.astype(float)
    if largest <= expected:
        return largest
    common: list[int] = sizes[counts >= _COMMON * counts.sum()].tolist()
    fitting = [size for size in common if size <= min(ethernet, most)]
    largest_share = sizes[np.argsort(-weight * counts, kind="stable")[:_SPLIT]].tolist()
    parts = [size // n for size in largest_share for n in _pieces(size, most)]
    tried = [size for size in dict.fromkeys([*limits, *fitting[::-1], *common[::-1], *parts]) if size <= most]
    explained = [float((sizes % size == 0) * weight @ counts) for size in tried]
    best = max(explained, default=0.0)
    if best < _LEAST * (weight @ counts):
        return max([expected, *fitting])
    found: int = next(size for size, share in zip(tried, explained) if share >= _AS_WELL * best)
    return max([found, *fitting])


def _pieces(size: int, most: int) -> list[int]:
    """Return into how many equal packets a size may have been split, none of them less than half of the most."""
    least = -(-size // most)
    return [n for n in range(least, min(2 * least, _MOST_PIECES)) if size % n == 0]
