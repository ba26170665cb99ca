"""The one door to data, sandboxes and the world: tools, policy, approvals, budgets, tokens, labels, undo."""
