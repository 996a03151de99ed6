# Tests for the empty text but not for a blank one.
# fails: 01.2 an empty name is refused
# answer: 01.2
def checked(name: str) -> str:
    if name == "":
        raise ValueError("empty")
    return greeting(name)
