# Hands everything to the store of the book and writes no comparison of its own.
# fails: 04.1 the second proposal from one revision is told that the page is old
# answer: 04.1
class MyStore(StateStore):
    """A store that compares, then swaps."""
