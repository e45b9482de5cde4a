"""What the room offers."""

from calibrant import codes


def test_names_are_sorted_and_there():
    assert codes.__all__ == sorted(codes.__all__)
    assert all(hasattr(codes, name) for name in codes.__all__)


def test_every_name_is_on_the_map():
    results = {"BinaryProblem", "BinaryProblems", "CouplingResult", "Finding", "LeastSquaresResult"}
    assert all(f"`{name}`" in codes.__doc__ for name in set(codes.__all__) - results)
