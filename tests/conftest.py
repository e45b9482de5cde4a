"""Names from before the golden cases had a package of their own."""

from golden import assert_golden, golden_cases, revive  # noqa: F401
