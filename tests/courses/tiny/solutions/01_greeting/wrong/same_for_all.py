# Learned the first check by heart.
# fails: 01.1 another name, another greeting
# answer: 01.1
def greeting(name: str) -> str:
    return "Hello, Ada: release 7"
