"""Two network namespaces with a TUN device each: what one kernel needs to talk TCP to itself through a program."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CLONE_NEWNET = 0x40000000
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33

RESET = struct.pack("ii", 1, 0)
"""A connection that is closed is reset. Otherwise a sender keeps what it has not sent for minutes, and many of them use
up the kernel's memory for TCP: then it holds all windows down to four packets."""

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
DEVICE = Path("/dev/net/tun")

ADDRESSES = ("10.9.0.1", "10.9.0.2")
PORT = 5001


class UnavailableError(RuntimeError):
    """No path can be emulated on this machine; the message says what is missing."""


@dataclass(frozen=True)
class Ends:
    """A TCP connection across two namespaces.

    Attributes
    ----------
    tuns : (int, int)
        File descriptors of the devices of the sender and of the receiver: a packet a read, a packet a write.
    sender, listener : socket
        Not connected yet: packets must be forwarded meanwhile.
    """

    tuns: tuple[int, int]
    sender: socket.socket
    listener: socket.socket

    def close(self) -> None:
        """Give everything back; the namespaces end with it."""
        for one in (self.sender, self.listener):
            one.close()
        for tun in self.tuns:
            os.close(tun)


def check() -> None:
    """Raise `UnavailableError` unless namespaces and TUN devices can be made."""
    if os.geteuid() != 0:
        raise UnavailableError("network namespaces need root: run as root")
    if not DEVICE.exists():
        raise UnavailableError(f"{DEVICE} is missing: load the kernel module tun (in a container: --device {DEVICE})")
    try:
        subprocess.run(["ip", "-V"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise UnavailableError("the command ip is missing: install iproute2") from None


def ends(congestion: str, settings: Mapping[str, object], buffer: int) -> Ends:
    """Make a sender and a listener, each in a namespace of its own; this thread stays in the listener's.

    Parameters
    ----------
    congestion : str
        Congestion control of the sender, as the kernel calls it.
    settings : mapping
        Of ``net.ipv4`` in both namespaces, as ``{"tcp_sack": 0}``.
    buffer : int
        Of the sender and of the listener [bytes].
    """
    enough_memory()  # the limit is not to be seen from within a namespace
    tuns, sockets = [], []
    for address in ADDRESSES:
        tuns.append(namespace(address, settings))
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, buffer)
        one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        one.setblocking(False)
        sockets.append(one)
    sender, listener = sockets
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((ADDRESSES[1], PORT))
    listener.listen(1)
    return Ends((tuns[0], tuns[1]), sender, listener)


@cache
def enough_memory() -> int:
    """Return up to how many pages of memory for TCP the kernel does not save any; first called outside a namespace."""
    return int(Path("/proc/sys/net/ipv4/tcp_mem").read_text().split()[0])


def memory() -> int:
    """Return how many pages all TCP of this machine uses."""
    lines = Path("/proc/net/sockstat").read_text().splitlines()
    return next(int(line.split()[-1]) for line in lines if line.startswith("TCP:"))


def namespace(address: str, settings: Mapping[str, object]) -> int:
    """Enter a new namespace with one TUN device, and return the device."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise UnavailableError(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    tun = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"path", IFF_TUN | IFF_NO_PI))
    for command in (f"ip addr add {address}/24 dev path", "ip link set path up mtu 1500 txqueuelen 10000"):
        subprocess.run(command.split(), check=True)
    for name, value in ({"tcp_no_metrics_save": 1} | dict(settings)).items():
        Path("/proc/sys/net/ipv4", name).write_text(f"{value}\n")
    return tun
