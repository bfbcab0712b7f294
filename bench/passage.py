"""The parts of a page that programs write, between two marks."""


def replace(page, begin, finish, text):
    """Puts `text` between the marks, which stay. ValueError if one is missing."""
    whole = page.read_text()
    start, end = whole.index(begin) + len(begin), whole.index(finish, whole.index(begin))
    page.write_text(f"{whole[:start]}\n\n{text}\n\n{whole[end:]}")
