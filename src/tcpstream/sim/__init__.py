"""A packet-level simulator of TCP over networks: independent of the Markov chain."""

from .agent import rounds_agent
from .application import Application, Client, Server
from .clip import Clip
from .delivery import Delivery
from .dumbbell import Dumbbell
from .experiment import Experiment
from .hosts import ClientHost, ServerHost
from .links import Change, CoDel, Link, TokenBucket
from .losses import Bernoulli, GilbertElliott, LossTrace, RoundLoss
from .observation import Observation
from .ping import Ping
from .player import Player
from .read import read_capacity, read_losses, read_requests
from .replications import interval, replicate
from .scenario import Flow, Scenario, single_path
from .senders import Tcp
from .session import Session
from .simulation import Run, simulate
from .sources import Backlogged, Requests, Steady, Stored, web_requests
from .tfrc import Tfrc
from .toml import read_experiment
from .traffic import Arrivals, Bins, Count, Datagram, Note, Traffic

__all__ = [
    "Application",
    "Arrivals",
    "Backlogged",
    "Bernoulli",
    "Bins",
    "Change",
    "Client",
    "ClientHost",
    "Clip",
    "CoDel",
    "Count",
    "Datagram",
    "Delivery",
    "Dumbbell",
    "Experiment",
    "Flow",
    "GilbertElliott",
    "Link",
    "LossTrace",
    "Note",
    "Observation",
    "Ping",
    "Player",
    "Requests",
    "RoundLoss",
    "Run",
    "Scenario",
    "Server",
    "ServerHost",
    "Session",
    "Steady",
    "Stored",
    "Tcp",
    "Tfrc",
    "TokenBucket",
    "Traffic",
    "interval",
    "read_capacity",
    "read_experiment",
    "read_losses",
    "read_requests",
    "replicate",
    "rounds_agent",
    "simulate",
    "single_path",
    "web_requests",
]
