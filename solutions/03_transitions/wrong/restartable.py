# A failed run is "just started again": its end, and the reason for it, are gone.
# fails: 03.1 a run that is over stays over
# answer: 03.1
ARROWS = {
    ("queued", "run_started"): "running",
    ("failed", "run_started"): "running",
    ("queued", "run_cancelled"): "cancelled",
    ("running", "approval_requested"): "waiting",
    ("running", "callback_awaited"): "waiting",
    ("running", "run_completed"): "completed",
    ("running", "run_failed"): "failed",
    ("running", "deadline_passed"): "failed",
    ("running", "run_cancelled"): "cancelled",
    ("waiting", "approval_granted"): "running",
    ("waiting", "callback_received"): "running",
    ("waiting", "run_failed"): "failed",
    ("waiting", "deadline_passed"): "failed",
    ("waiting", "run_cancelled"): "cancelled",
}


def legal(status: str, kind: str) -> bool:
    return (status, kind) in ARROWS
