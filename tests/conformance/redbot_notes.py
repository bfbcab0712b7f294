"""What REDbot has to say of a URL, as JSON: runs in the environment where REDbot is installed.

    redbot_notes.py URL
"""
import configparser
import json
import sys

import thor
from redbot.resource import HttpResource


def notes_of(url):
    config = configparser.ConfigParser()
    config.read_dict({"redbot": {"enable_local_access": "True"}})
    resource = HttpResource(config["redbot"])
    resource.set_request(url)
    resource.on("check_done", thor.stop)
    resource.check()
    thor.run()
    notes = [[note.level.value, type(note).__name__, note.subject, str(note.summary)] for each in (resource, *resource.subreqs.values())
             for note in each.response.notes]
    return {"status": resource.response.status_code_str, "complete": resource.response.complete, "error": str(resource.fetch_error or ""), "notes": notes}


if __name__ == "__main__":
    json.dump(notes_of(sys.argv[1]), sys.stdout)
