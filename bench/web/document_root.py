"""What the servers serve: a page, and the sets that tartan-load makes."""

import os
import pathlib
import shutil
import subprocess
import sys

import workloads


def page_text():
    """As the page of bench/io_h1."""
    text, n = "<!doctype html>\n<title>A page</title>\n<p>", 0
    while len(text) < workloads.PAGE_BYTES:
        text += f"word {n}" + ("\n" if n % 12 == 11 else " ")
        n += 1
    return text[:workloads.PAGE_BYTES]


def readable_by_all(folder):
    """Whether a server that has become somebody else comes in."""
    return all(os.stat(each).st_mode & 0o001 for each in (folder, *folder.parents))


class document_roots:
    """Made when they are asked for. `kept`: where the sets stay from one call to the next; `fleeting`: a folder that is gone at the end."""

    def __init__(self, injector, kept, fleeting):
        self.injector = injector
        self.kept = kept
        self.fleeting = fleeting
        os.chmod(fleeting, 0o755)
        self.made = {}

    def root(self, files):
        if files not in self.made:
            self.made[files] = self.page() if files == "page" else self.made_set(files)
        return self.made[files]

    def page(self):
        folder = self.fleeting / "page"
        folder.mkdir()
        (folder / "page.html").write_text(page_text())
        return folder

    def made_set(self, files):
        how = workloads.SETS[files]
        folder, seal = self.kept / files, self.kept / f"{files}.made"
        made_with = f"{' '.join(how)} {os.stat(self.injector).st_mtime_ns}"
        if not seal.exists() or seal.read_text() != made_with:
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            done = subprocess.run([str(self.injector), "make-set", str(folder), *how], stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(f"tartan-load make-set: {done.returncode}")
            seal.write_text(made_with)
        if readable_by_all(folder):
            return folder
        return pathlib.Path(shutil.copytree(folder, self.fleeting / files))
