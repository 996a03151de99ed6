# fails: 02.1 who proposes does not write
# The model that proposes an action is put down as its writer.
# answer: 02.1
def owner_table() -> dict[str, tuple[str, str]]:
    table = {"diagnostic event": ("any component", "trace")}
    table["candidate action"] = ("runtime", "model")
    table["tool result"] = ("runtime/store", "tool executor")
    table["run status"] = ("store", "runtime")
    table["approval decision"] = ("runtime", "user or approval service")
    return table


def may_write(who: str, datum: str) -> bool:
    return who in owner_table()[datum][1].split("/")
