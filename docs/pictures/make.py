#!/usr/bin/env python3
"""Makes the pictures of README.md and docs/web.md from the session of `tract demo`.

    docs/pictures/make.py target/release/tract

A recording of the terminal (terminal.svg), played in tmux and drawn here; and the page of a session, light and dark
(page-light.png, page-dark.png), by headless Chromium. Needs tmux, chromium and Pillow. What is drawn is what the program
wrote: only its home and its clock are set.
"""

import html
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
SESSION = HERE.parent.parent / "src/cli/command/sessions/demo-session.jsonl"
COLUMNS, ROWS = 92, 24
# A quarter of an hour after the session's end.
CLOCK = "1773480900000"
LARGEST = 400_000

# What is typed, and for how many seconds what comes of it is seen. A key is one that tmux knows.
WALK = [
    ("tract import session.jsonl", 4),
    ("tract log -n 9", 5),
    ("tract view -i", 4),
    (["g"], 3),
    (["Enter"], 3),
    (["Space"], 4),
    (["q"], 0),
    (["q"], 0),
    ("tract find 'quoted amount' -n 4", 4),
    ("tract drop :3 --dry-run", 5),
]
# The colours of a terminal, dim to bright.
COLOURS = ["#2a2f3a", "#f07178", "#a5d6a7", "#ffcb6b", "#82aaff", "#c792ea", "#80cbc4", "#d8dbe2"]
BRIGHT = ["#7d8699", "#ff8b92", "#b9e8bb", "#ffd98a", "#9cbcff", "#d6a8f5", "#9adbd4", "#ffffff"]
GROUND, INK = "#14161a", "#d8dbe2"


def environment(home):
    return {
        "HOME": str(home),
        "PATH": "%s:%s" % (home / "bin", os.environ["PATH"]),
        "TERM": "screen-256color",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TRACT_CLOCK": CLOCK,
    }


class Terminal:
    """A shell in tmux."""

    def __init__(self, home):
        self.socket = "tract-pictures-%d" % os.getpid()
        work = home / "tally"
        work.mkdir()
        (work / "session.jsonl").write_bytes(SESSION.read_bytes())
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(work),
                  "env", "PS1=$ ", "sh", env=environment(home))
        self.tmux("set-option", "-g", "status", "off")
        time.sleep(0.5)

    def tmux(self, *words, env=None):
        return subprocess.run(["tmux", "-L", self.socket, *words], env=env, check=True, capture_output=True, text=True).stdout

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, key):
        self.tmux("send-keys", key)

    def seen(self):
        """The screen once it stands still, with its colours."""
        last, since = None, time.time()
        while time.time() - since < 10:
            now = self.tmux("capture-pane", "-e", "-p")
            if now == last:
                break
            last = now
            time.sleep(0.25)
        return last.rstrip("\n").split("\n")

    def end(self):
        self.tmux("kill-server")


def runs(line):
    """The pieces of a line with how each looks."""
    look = {"ink": None, "ground": None, "bold": False, "dim": False, "reverse": False}
    for piece in re.split("(\x1b\\[[0-9;]*m)", line):
        code = re.fullmatch("\x1b\\[([0-9;]*)m", piece)
        if not code:
            if piece:
                yield dict(look), piece
            continue
        numbers = [int(number or 0) for number in code[1].split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                look.update(ink=None, ground=None, bold=False, dim=False, reverse=False)
            elif number in (1, 2, 7):
                look[{1: "bold", 2: "dim", 7: "reverse"}[number]] = True
            elif number == 22:
                look.update(bold=False, dim=False)
            elif number == 27:
                look["reverse"] = False
            elif 30 <= number < 38:
                look["ink"] = COLOURS[number - 30]
            elif 90 <= number < 98:
                look["ink"] = BRIGHT[number - 90]
            elif number == 39:
                look["ink"] = None
            elif 40 <= number < 48:
                look["ground"] = COLOURS[number - 40]
            elif number == 49:
                look["ground"] = None


WIDE, HIGH, LEFT, TOP = 8.4, 18, 14, 40


def drawn(lines):
    """A screen as parts of an SVG."""
    parts = []
    for row, line in enumerate(lines):
        at, y = 0, TOP + row * HIGH
        spans = []
        for look, text in runs(line):
            ink, ground = look["ink"] or INK, look["ground"]
            if look["reverse"]:
                ink, ground = ground or GROUND, ink
            if ground:
                parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>'
                             % (LEFT + at * WIDE, y - 13.5, len(text) * WIDE, HIGH, ground))
            style = ' font-weight="700"' if look["bold"] else ""
            style += ' opacity=".65"' if look["dim"] else ""
            if text.strip():
                spans.append('<tspan x="%.1f" fill="%s"%s>%s</tspan>' % (LEFT + at * WIDE, ink, style, html.escape(text)))
            at += len(text)
        if spans:
            parts.append('<text y="%.1f">%s</text>' % (y, "".join(spans)))
    return "".join(parts)


def recording(home):
    terminal = Terminal(home)
    frames = []
    try:
        for typed, seconds in WALK:
            if isinstance(typed, str):
                terminal.type("clear")
                terminal.press("Enter")
                terminal.seen()
                terminal.type(typed)
                frames.append((terminal.seen(), 1.2))
                terminal.press("Enter")
            else:
                for key in typed:
                    terminal.press(key)
            time.sleep(0.4)
            lines = terminal.seen()
            if seconds:
                frames.append((lines, seconds))
    finally:
        terminal.end()
    whole = sum(seconds for _, seconds in frames)
    rules, groups, begun = [], [], 0.0
    for at, (lines, seconds) in enumerate(frames):
        start, end = 100 * begun / whole, 100 * (begun + seconds) / whole
        rules.append(
            "@keyframes f%d{0%%,%.3f%%{visibility:hidden}%.3f%%,%.3f%%{visibility:visible}%.3f%%,100%%{visibility:hidden}}"
            ".f%d{visibility:hidden;animation:f%d %.1fs step-end infinite}"
            % (at, max(start - 0.001, 0), start, end - 0.001, end, at, at, whole))
        groups.append('<g class="f%d">%s</g>' % (at, drawn(lines)))
        begun += seconds
    # Who wants no motion sees the screen that tells most.
    still = "@media (prefers-reduced-motion:reduce){g{animation:none!important}.f5{visibility:visible!important}}"
    width, height = LEFT * 2 + COLUMNS * WIDE, TOP + ROWS * HIGH
    dots = "".join('<circle cx="%d" cy="16" r="5" fill="%s"/>' % (20 + 18 * at, fill)
                   for at, fill in enumerate(["#ef6b5f", "#f0bd4f", "#62c454"]))
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="tract in a terminal">'
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}%s%s</style>"
        '<rect width="100%%" height="100%%" rx="10" fill="%s"/>%s%s</svg>\n'
        % (width, height, "".join(rules), still, GROUND, dots, "".join(groups)))
    (HERE / "terminal.svg").write_text(svg)


def page(tract, home):
    server = subprocess.Popen([tract, "demo", "--web", "--no-open"], env={**environment(home), "TMPDIR": str(home)},
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = server.stdout.readline().strip()
        listed = urllib.request.urlopen(address).read().decode()
        link = re.search(r'href="((?:\./)?s/[^"?#]+)', listed)[1]
        for name, scheme in (("light", 1), ("dark", 0)):
            shot = home / "page.png"
            subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
                 "--user-data-dir=%s" % (home / ("chromium-" + name)), "--window-size=1280,860",
                 "--blink-settings=preferredColorScheme=%d" % scheme, "--timeout=8000",
                 "--screenshot=%s" % shot, urllib.request.urljoin(address, link)],
                check=True, capture_output=True, timeout=120)
            picture = Image.open(shot).convert("RGB").quantize(64, dither=Image.Dither.NONE)
            out = io.BytesIO()
            picture.save(out, "PNG", optimize=True)
            (HERE / ("page-%s.png" % name)).write_bytes(out.getvalue())
    finally:
        server.terminate()


def main():
    tract = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/tract").resolve()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        (home / "bin").mkdir()
        (home / "bin/tract").symlink_to(tract)
        recording(home)
        page(str(tract), home)
    sizes = {path.name: path.stat().st_size for path in sorted(HERE.iterdir()) if path.suffix in (".svg", ".png")}
    print(sizes)
    if sum(sizes.values()) > LARGEST:
        sys.exit("together they are larger than %d bytes" % LARGEST)


if __name__ == "__main__":
    main()
