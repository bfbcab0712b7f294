"""REDbot: nothing bad in what it notes, no warning but those named here, and it has found what it looks for."""
import json
import pathlib
import subprocess
import sys

import judged
from harness import PATIENCE_S, expect
from judged import REPOSITORY, case, skipped

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = REPOSITORY / "build" / "conformance" / "venv"
INSTALL_S = 300
ALLOWED = {
    # There is no Cache-Control: how long a file stays as it is only its owner knows, and a cache asks by its tag or date.
    "FRESHNESS_HEURISTIC",
}
OF_A_FILE = {"DATE_CORRECT", "CL_CORRECT", "INM_304", "IMS_304"}


def install():
    """The interpreter that has REDbot."""
    python = ENVIRONMENT / "bin" / "python"
    wanted = HERE / "requirements.txt"
    mark = ENVIRONMENT / "installed"
    if mark.exists() and mark.read_text() == wanted.read_text():
        return python
    for command in ([sys.executable, "-m", "venv", ENVIRONMENT], [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]):
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
        except subprocess.TimeoutExpired:
            raise skipped(f"not installed within {INSTALL_S} s")
        if ended.returncode != 0:
            raise skipped(f"cannot be installed: {(ended.stderr or ended.stdout).strip().splitlines()[-1]}")
    mark.write_text(wanted.read_text())
    return python


def notes(url, status="200"):
    """The names of the good ones."""
    trusts = {**judged.ENVIRONMENT, "SSL_CERT_FILE": str(judged.SCRATCH / "certificate.pem")}
    ended = subprocess.run([install(), HERE / "redbot_notes.py", url], capture_output=True, text=True, timeout=2 * PATIENCE_S, env=trusts)
    expect(ended.returncode == 0, ended.stderr)
    found = json.loads(ended.stdout)
    expect(found["status"] == status and found["complete"] and not found["error"], found)
    for level, name, subject, summary in found["notes"]:
        expect(level != "bad" and (level != "warning" or name in ALLOWED), url, level, name, subject, summary)
    return {name for level, name, _, _ in found["notes"] if level == "good"}


def check(address, name, *more):
    missing = {*OF_A_FILE, *more} - notes(f"{address}/{name}")
    expect(not missing, name, "was not found to have", missing)


def addresses(s):  # it asks no /etc/hosts
    return f"http://127.0.0.1:{s.port}", f"https://127.0.0.1:{s.tls_port}"


@case("redbot")
def pages_are_served_as_they_should_be():
    install()
    with judged.judged() as s:
        for address in addresses(s):
            check(address, "page.html", "RANGE_CORRECT", "CONNEG_GZIP_GOOD")
            check(address, "plain.txt", "RANGE_CORRECT")
            check(address, "large.bin", "RANGE_CORRECT")
        check(addresses(s)[0], "empty.txt")


@case("redbot")
def redirects_and_errors_are_as_they_should_be():
    install()
    with judged.judged() as s:
        notes(f"{addresses(s)[0]}/folder", "301")
        notes(f"{addresses(s)[0]}/nothing", "404")
