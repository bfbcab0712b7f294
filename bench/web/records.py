"""What has been run, in a file."""

import itertools
import json

INTERRUPTED = 130  # the exit status of who has kept what there was, as a shell has it for SIGINT


def free_path(folder, words, kind):
    """Of a file of its own, also beside that of the same run before."""
    for n in itertools.count(1):
        path = folder / ("-".join(words + [str(n)] * (n > 1) + [kind]) + ".json")
        if not path.exists():
            return path


def keep(record, path):
    """Writes it, a run a line; the file, which is whole at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {key: value for key, value in record.items() if key != "runs"}
    lines = ",\n".join(json.dumps(run) for run in record["runs"])
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + lines + "\n]}\n")
    part.replace(path)
