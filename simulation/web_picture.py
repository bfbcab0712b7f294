"""The speed-up of the simulated web servers, as SVG: bench/web/pictures.py draws it, and it says of itself that it is simulated."""
import pictures
import web_rows

TITLE = "Speed-up by the number of workers, simulated"
SAID = ("Simulated, not measured: requests per second by those of one serial server; the request cycle of this project's web server, 1000 clients, 16 cores, "
        "large_16. Idle workers sleep; the second table has them spin, as the papers' do.")
FOOT = ("Simulated, not measured: simulation/web_results.json, by {}. The papers' schedulers take all edges by one event of color 0; a wake-up takes what it "
        "takes in a virtual machine, 8 us. The kernel's own scaling is not simulated. N copies: N times one serial server with its share of the clients. "
        "Rows of 8 and 16 workers move by up to a sixth with where memory lies.")
COPIES = "serial+copies"
SCHEDULERS = ("default", "per_worker:no-stealing", "per_worker", "color_queues:no-stealing", "color_queues")


def curves(found):
    """[(name, [(workers, times as fast as one serial server)])], without what was not simulated."""
    rates = {f"web@{name}": {n: web_rows.rate(found, "web", "large_16", name, n, 1000, False) for n in web_rows.COUNTS} for name in SCHEDULERS}
    rates[COPIES] = web_rows.rates_of_copies(found)
    base = rates[COPIES].get(1)
    drawn = [(name, [(n, each / base) for n, each in of.items() if base and each]) for name, of in rates.items()]
    return [(name, points) for name, points in drawn if points]


def speed_up(kept):
    """Of what simulation/run --web has kept. Empty if there is nothing to draw."""
    found = {web_rows.key_of(each): each for each in kept["rows"]}
    return pictures.curves_picture(TITLE, SAID, curves(found), FOOT.format(kept["built_by"]), "worker")
