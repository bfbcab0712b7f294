"""A site of 200 assets, of all kinds that a page may ask for, and the page that asks for them and says what it got."""
import gzip
import json
import math
import pathlib
import struct
import subprocess
import zlib

STYLES, SCRIPTS, MODULES, PNGS, SVGS, WEBPS, FONTS, DOCUMENTS, FRAMES, SOUNDS = 30, 40, 20, 40, 25, 15, 8, 16, 4, 2
TOTAL = 200
FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")  # fonts-dejavu-core
SOUND_SECONDS = 20


def color_of(number):
    """Each of an image's numbers has another one, so that a picture of the page shows which came."""
    return tuple(int(127 + 120 * math.sin(number * 0.7 + shift)) for shift in (0, 2, 4))


def png(number, side=32):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = b"\0" + bytes(color_of(number)) * side
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b"")


def webp(number, side=32):
    """Lossless and of one color: each of the five prefix codes has a single symbol, so that the pixels need no bits."""
    red, green, blue = color_of(number)
    fields = [(0x2F, 8), (side - 1, 14), (side - 1, 14), (0, 1), (0, 3), (0, 1), (0, 1), (0, 1)]
    for symbol in (green, red, blue, 255):
        fields += [(1, 1), (0, 1), (1, 1), (symbol, 8)]
    fields += [(1, 1), (0, 1), (0, 1), (0, 1)]
    bits = at = 0
    for value, width in fields:
        bits |= value << at
        at += width
    data = bits.to_bytes((at + 7) // 8, "little")
    data += b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", 12 + len(data)) + b"WEBPVP8L" + struct.pack("<I", len(data)) + data


def svg(number):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><circle cx="16" cy="16" r="15" fill="rgb{color_of(number)}"/>'
            f'<text x="8" y="21" font-size="12">{number}</text></svg>\n').encode()


def woff(number):
    """The system's font as WOFF, with a table of its own, so that no two are the same."""
    font = FONT.read_bytes()
    count = struct.unpack(">H", font[4:6])[0]
    tables = sorted((tag, checksum, font[at:at + size]) for tag, checksum, at, size in
                    (struct.unpack(">4sIII", font[12 + 16 * n:28 + 16 * n]) for n in range(count)))
    at, directory, body = 44 + 20 * len(tables), b"", b""
    for tag, checksum, data in tables:
        packed = zlib.compress(data, 1 + number % 9)
        packed = packed if len(packed) < len(data) else data
        directory += struct.pack(">4sIIII", tag, at + len(body), len(packed), len(data), checksum)
        body += packed + b"\0" * (-len(packed) % 4)
    plain = 12 + 16 * len(tables) + sum((len(data) + 3) // 4 * 4 for _, _, data in tables)
    return struct.pack(">4s4sIHHIHHIIIII", b"wOFF", font[:4], at + len(body), len(tables), 0, plain, 1, 0, 0, 0, 0, 0, 0) + directory + body


def wav(number):
    rate = 44100
    wave = b"".join(struct.pack("<h", int(8000 * math.sin(2 * math.pi * 220 * (number + 1) * n / rate))) for n in range(rate)) * SOUND_SECONDS
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(wave), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(wave))
    return head + wave


def style(number):
    font = f"@font-face {{ font-family: f{number}; src: url(../font/{number}.woff); }}\n#font{number} {{ font-family: f{number}; }}\n" if number < FONTS else ""
    return (f"{font}#style{number} {{ background: rgb{color_of(number)}; }}\n" + f"/* what makes it worth compressing: {number} */\n" * 30).encode()


def script(number):
    return (f"window.ran = (window.ran || 0) + 1;\n" + f"// what makes it worth compressing: {number}\n" * 30).encode()


def module(number):
    after = f'import {{ value as next }} from "./{number + 1}.mjs";\n' if number + 1 < MODULES else "const next = 0;\n"
    return (after + f"export const value = next + 1; // {number}\n").encode()


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>200 assets</title><link rel="icon" href="data:,">
%(head)s
<style>.box { display: inline-block; width: 20px; height: 20px; } iframe, audio { width: 180px; height: 40px; }</style></head>
<body><p id="verdict">loading</p><p>%(styles)s</p><p>%(images)s</p><p>%(fonts)s</p><p>%(frames)s</p>
<script type="module">
import { value } from "./module/0.mjs";
const documents = await Promise.all([...Array(%(documents)d).keys()].map(n => fetch(`document/${n}.json`).then(r => r.json())));
await document.fonts.ready;
await new Promise(done => document.readyState == "complete" ? done() : addEventListener("load", done));
const images = [...document.images].filter(i => i.complete && i.naturalWidth == 32).length;
const styles = [...document.querySelectorAll(".box")].filter(b => getComputedStyle(b).backgroundColor != "rgba(0, 0, 0, 0)").length;
const fonts = [...document.fonts].filter(f => f.status == "loaded").length;
const sounds = await Promise.all([...document.querySelectorAll("audio")].map(a => new Promise(done => {
  const seek = () => { a.addEventListener("seeked", () => done(Math.round(a.duration)), { once: true }); a.currentTime = a.duration - 1; };
  a.readyState >= 1 ? seek() : (a.addEventListener("loadedmetadata", seek, { once: true }), a.addEventListener("error", () => done(-1)));
})));
window.verdict = { modules: value, documents: documents.reduce((sum, d) => sum + d.number, 0), images, styles, scripts: window.ran, fonts,
                   frames: [...document.querySelectorAll("iframe")].filter(f => f.contentDocument.title == "frame").length, sounds };
document.getElementById("verdict").textContent = JSON.stringify(window.verdict);
</script></body></html>
"""
VERDICT = {"modules": MODULES, "documents": sum(range(DOCUMENTS)), "images": PNGS + SVGS + WEBPS, "styles": STYLES, "scripts": SCRIPTS, "fonts": FONTS,
           "frames": FRAMES, "sounds": [SOUND_SECONDS] * SOUNDS}


def page():
    images = [f"png/{n}.png" for n in range(PNGS)] + [f"svg/{n}.svg" for n in range(SVGS)] + [f"webp/{n}.webp" for n in range(WEBPS)]
    return (PAGE % {
        "head": "\n".join([f'<link rel="stylesheet" href="style/{n}.css">' for n in range(STYLES)] +
                          [f'<script defer src="script/{n}.js"></script>' for n in range(SCRIPTS)]),
        "styles": "".join(f'<span class="box" id="style{n}"></span>' for n in range(STYLES)),
        "images": "".join(f'<img alt="" src="{name}">' for name in images),
        "fonts": " ".join(f'<span id="font{n}">font {n}</span>' for n in range(FONTS)),
        "frames": "".join(f'<iframe src="frame/{n}.html"></iframe>' for n in range(FRAMES)) +
                  "".join(f'<audio controls preload="auto" src="sound/{n}.wav"></audio>' for n in range(SOUNDS)),
        "documents": DOCUMENTS}).encode()


def fill(root):
    """Writes the site; gives its files' names, without the page."""
    files = {}
    for folder, number, suffix, make in (
            ("style", STYLES, "css", style), ("script", SCRIPTS, "js", script), ("module", MODULES, "mjs", module), ("png", PNGS, "png", png),
            ("svg", SVGS, "svg", svg), ("webp", WEBPS, "webp", webp), ("font", FONTS, "woff", woff), ("sound", SOUNDS, "wav", wav),
            ("document", DOCUMENTS, "json", lambda n: json.dumps({"number": n}).encode()),
            ("frame", FRAMES, "html", lambda n: b"<!doctype html><title>frame</title>in a frame\n")):
        files.update({f"{folder}/{n}.{suffix}": make(n) for n in range(number)})
    assert len(files) == TOTAL, len(files)
    for name, content in {**files, "index.html": page()}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    compressed = [root / name for name in files if name.endswith((".css", ".js", ".svg"))]
    for path in compressed:
        pathlib.Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    subprocess.run(["brotli", "-f", "-k", *compressed[::2]], check=True)  # the other half has only the other coding
    return sorted(files)
