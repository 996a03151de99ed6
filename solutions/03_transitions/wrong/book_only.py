# Takes the book's arrows as they are and never reads this week's note.
# fails: 03.1 the new deadline row is there
# answer: 03.1
ARROWS = {(str(start), kind): str(end) for start, end, kind in arrows()}


def legal(status: str, kind: str) -> bool:
    return (status, kind) in ARROWS
