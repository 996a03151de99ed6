# Greets everybody alike.
# fails: 01.1 the name is in the greeting
# answer: 01.1
def greeting(name: str) -> str:
    return "Hello, you"
