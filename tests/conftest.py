"""What all tests share."""

from hypothesis import settings

# The same examples in every run, however busy the machine is.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
