# fails: 02.1 Where a slash names two writers, each of them may write, and only they.
# The whole text "runtime/store" is compared, so neither of the two may write.
# answer: 02.1
def owner_table() -> dict[str, tuple[str, str]]:
    table = {"diagnostic event": ("any component", "trace")}
    table["candidate action"] = ("model", "runtime")
    table["tool result"] = ("tool executor", "runtime/store")
    table["run status"] = ("runtime", "store")
    table["approval decision"] = ("user or approval service", "runtime")
    return table


def may_write(who: str, datum: str) -> bool:
    return owner_table()[datum][1] == who
