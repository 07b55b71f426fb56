"""The session's goal: `await goal.get()`, `await goal.create(...)`, `await goal.complete()`.

Each returns a dict with `goal` (or None), `remaining_tokens` and `completion_budget_report`.
"""

from rlm.host import host_request


async def get():
    """The current goal."""
    return await host_request("goal.get")


async def create(objective, token_budget=None):
    """Sets a goal; fails while another one is active, paused or out of budget."""
    payload = {"objective": objective}
    if token_budget is not None:
        payload["token_budget"] = token_budget
    return await host_request("goal.create", payload)


async def complete():
    """Marks the goal as reached."""
    return await host_request("goal.complete")
