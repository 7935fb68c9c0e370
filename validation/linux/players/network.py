"""A path with an HTTP server behind it: nginx in one namespace, whoever this process starts in the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from namespaces import ADDRESSES, UnavailableError, check, namespace

SERVER = f"http://{ADDRESSES[0]}/"

NETWORK = "10.9.0.0/24"

CAPTURED_PORT = 40000
"""The client's port of the connection that is captured."""

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_timeout 600s; keepalive_requests 100000; types {{ audio/basic au; }}
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen {address}:80; root {folder}; }}
}}
"""

NEEDED = ("nginx", "mpv")


def available() -> None:
    """Raise `UnavailableError` unless paths, the server and the player can be had."""
    check()
    for name in NEEDED:
        try:
            subprocess.run([name, "--version" if name == "mpv" else "-v"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            raise UnavailableError(f"the command {name} is missing: install {name}") from None


@contextmanager
def served(folder: Path, tcp: str, path: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Serve a folder over a path; what this process starts meanwhile are its clients.

    Parameters
    ----------
    folder : path
    tcp : str
        Congestion control of the server, as the kernel calls it.
    path : dict
        Of `router.py`.

    Yields
    ------
    dict
        What the router saw, once it has stopped.
    """
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, address=ADDRESSES[0]))
    server = _end(ADDRESSES[0], tcp)
    nginx = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    clients = _end(ADDRESSES[1], tcp)
    command = [sys.executable, str(Path(__file__).with_name("router.py")), str(server), str(clients), json.dumps(path)]
    router = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(server, clients))
    assert router.stdout is not None
    router.stdout.readline()
    seen: dict[str, Any] = {}
    try:
        yield seen
        seen |= json.loads(router.communicate()[0])
    finally:
        for one in (router, nginx):
            one.kill()
            one.wait()
        for tun in (server, clients):
            os.close(tun)


def _end(address: str, tcp: str) -> int:
    """Enter a new namespace whose connections have a congestion control; return its device."""
    tun = namespace(address, {})
    subprocess.run(["ip", "route", "replace", NETWORK, "dev", "path", "src", address, "congctl", tcp], check=True)
    return tun
