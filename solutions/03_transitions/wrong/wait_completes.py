# The facts are there, so why wait for the answer? Because somebody was asked.
# fails: 03.1 a waiting run cannot complete
# answer: 03.1
FROM = {
    "run_started": ("queued",),
    "approval_requested": ("running",),
    "callback_awaited": ("running",),
    "approval_granted": ("waiting",),
    "callback_received": ("waiting",),
    "run_completed": ("running", "waiting"),
    "run_failed": ("running", "waiting"),
    "deadline_passed": ("running", "waiting"),
    "run_cancelled": ("queued", "running", "waiting"),
}
TO = {
    "run_started": "running",
    "approval_requested": "waiting",
    "callback_awaited": "waiting",
    "approval_granted": "running",
    "callback_received": "running",
    "run_completed": "completed",
    "run_failed": "failed",
    "deadline_passed": "failed",
    "run_cancelled": "cancelled",
}
ARROWS = {(status, kind): TO[kind] for kind, statuses in FROM.items() for status in statuses}


def legal(status: str, kind: str) -> bool:
    return (status, kind) in ARROWS
