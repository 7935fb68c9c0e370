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
#: A candidate explains the payload as well as the best one if it explains this share of what that does.
_AS_WELL = 0.9
#: Less than this share of the payload in packets of twice the size and more is no sign of offloading.
_OFFLOADED = 0.02


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
    own link, of which only its data tell: what it announces itself binds the other end. Without offloading the full
    packet is the largest one. Where larger ones than the receiver accepts are seen, or multiples of a smaller size, it is
    the size of which most of the payload consists in whole multiples; the limits are tried first.
    """
    options = header - HEADERS[address]
    limits = [mss - options for mss in announced]
    most = limits[0] if announced[0] else _JUMBO - header
    sizes, counts = np.unique(payload, return_counts=True)
    largest = int(sizes[-1])
    common = sizes[counts >= _COMMON * counts.sum()]
    expected = [limit for limit, mss in zip(limits, announced) if mss] or [_ETHERNET - header]
    found = _explaining(sizes, counts, [m for m in [*expected, *_seen(common, most)] if _SMALLEST <= m <= most])
    split = largest > most or sizes[sizes >= 2 * found] @ counts[sizes >= 2 * found] > _OFFLOADED * (sizes @ counts)
    if not split:
        return max(largest, _SMALLEST)
    whole = common[(common > found) & (common <= most) & (common % found != 0)]
    return max(found, int(whole.max(initial=0)), _SMALLEST)
