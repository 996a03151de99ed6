# fails: 02.1 A datum that has no row is refused, not answered with False.
# A question about a datum that nobody owns gets an answer, as if it had an owner.
# answer: 02.1
def owner_table() -> dict[str, tuple[str, str]]:
    table = {"diagnostic event": ("any component", "trace")}
    table["candidate action"] = ("model", "runtime")
    table["tool result"] = ("tool executor", "runtime/store")
    table["run status"] = ("runtime", "store")
    table["approval decision"] = ("user or approval service", "runtime")
    return table


def may_write(who: str, datum: str) -> bool:
    return datum in owner_table() and who in owner_table()[datum][1].split("/")
