"""What has been run, in a file."""

import json


def keep(record, path):
    """Writes it, a run a line; the file, which is whole at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {key: value for key, value in record.items() if key != "runs"}
    lines = ",\n".join(json.dumps(run) for run in record["runs"])
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + lines + "\n]}\n")
    part.replace(path)
