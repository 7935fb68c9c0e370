"""A player over UDP: the server changes the level by the client's reports, and sends once more what is missing."""

from dataclasses import dataclass, field

from tcpstream import sim

TICK, REPORT = 0.1, 1.0
"""How often the server sends, and the client reports [s]."""


@dataclass(frozen=True)
class Adaptive(sim.Application):
    """Settings: the content, bytes of a packet, what makes it change level, and what is held when playback starts.

    A level down when more than `most_loss` of a second's packets are missing; one up after `clean` seconds without a
    missing packet. Media are sent at twice their rate until the client plays.
    """

    clip: sim.Clip
    packet: int = 1000
    most_loss: float = 0.05
    clean: float = 10.0
    buffer: float = 5.0

    def server(self):
        return Sender(self)

    def client(self):
        return Viewer(self)

    def figures(self, traffic, duration):
        joined, _ = traffic.noted("plays")
        _, stalls = traffic.noted("stall")
        _, levels = traffic.noted("level")
        return {
            "join_time_s": joined[0] if len(joined) else float("nan"),
            "total_rebuffer_s": stalls.sum(),
            "level_changes": len(levels) - 1,
        }


@dataclass
class Sender(sim.Server):
    """Sends a tick of media after the other; the tag of a packet is the time in the clip that it ends [ms]."""

    player: Adaptive
    media: float = 0.0
    credit: float = 0.0
    speed: float = 2.0
    clean: float = 0.0
    all_sent: bool = False
    tags: dict = field(default_factory=dict)

    def start(self, host):
        self.level = len(self.player.clip.rates) - 1
        host.note("level", self.level)
        self.timer(host, "tick")

    def timer(self, host, name):
        media = min(TICK * self.speed, self.player.clip.duration - self.media)
        self.credit += media * self.player.clip.rates[self.level] / 8
        packets = int(self.credit // self.player.packet)
        self.credit -= packets * self.player.packet
        for k in range(packets):
            tag = round(1000 * (self.media + media * (k + 1) / packets))
            self.tags[host.send(self.player.packet, tag, after=TICK * k / packets)] = tag
        self.media += media
        self.all_sent = self.media >= self.player.clip.duration - 1e-9
        if not self.all_sent:
            host.wake("tick", TICK)

    def message(self, host, report):
        for number in report["missing"]:
            if number in self.tags:  # else it was sent again before
                host.send(self.player.packet, self.tags.pop(number))
        self.speed = 1.0 if report["plays"] else 2.0
        self.clean = 0.0 if report["missing"] else self.clean + REPORT
        if self.all_sent:
            return
        if report["lost"] > self.player.most_loss and self.level > 0:
            self.change(host, -1)
        elif self.clean >= self.player.clean and self.level + 1 < len(self.player.clip.rates):
            self.change(host, +1)

    def change(self, host, step):
        self.level += step
        self.clean = 0.0
        host.note("level", self.level)


@dataclass
class Viewer(sim.Client):
    """Looks at what has come once a second, reports it, and plays it."""

    player: Adaptive
    held: float = 0.0
    position: float = 0.0
    plays: bool = False

    def start(self, host):
        host.wake("report", REPORT)

    def timer(self, host, name):
        new = host.arrived()
        fresh = host.overtaken
        lost = len(fresh) / (len(fresh) + len(new)) if len(new) else 1.0
        self.held = max(self.held, new.tag.max(initial=0) / 1000)
        self.play(host)
        if self.position < self.player.clip.duration - 1e-9:
            host.tell({"lost": lost, "missing": fresh, "plays": self.plays})
            host.wake("report", REPORT)

    def play(self, host):
        end = self.player.clip.duration
        if not self.plays and self.held >= min(self.position + self.player.buffer, end) - 1e-9:
            self.plays = True
            host.note("plays")
        elif self.plays:
            shown = min(REPORT, self.held - self.position)
            self.position += shown
            if shown < REPORT and self.position < end - 1e-9:
                self.plays = False
                host.note("stall", REPORT - shown)
        elif self.position > 0:
            host.note("stall", REPORT)
