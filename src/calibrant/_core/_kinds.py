"""A kind of object that can be saved: its name in the file, its parameters, its fitted numbers.

Whatever can be saved is a `Saved`: the class says what its parameters and its fitted numbers may be, and a
`Kind` does all the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from calibrant._core._arrays import Array
from calibrant._core._field_groups import Record, check_keys, object_schema
from calibrant._core._fields import Field, Schema
from calibrant._core._fitted import check_fitted
from calibrant._core._place import ModelFileError, Place


class Saved:
    """What can be saved: a class that declares its parameters and, if it is fitted, its fitted numbers."""

    #: What it is called in a file.
    name: ClassVar[str]
    #: What the arguments of the constructor may be, and how they stand in a file.
    parameters: ClassVar[Record] = Record()
    #: The fitted numbers in a file, each the attribute of the same name with an underscore behind it; None
    #: for what is not fitted.
    fitted: ClassVar[Record | None] = None
    #: The attribute that only a fitted object has.
    mark: ClassVar[str] = ""

    @classmethod
    @cache
    def kind_in_file(cls) -> "Kind":
        """Give the way to and from a file.

        Returns
        -------
        Kind
            How objects of this class are saved.
        """
        return Kind(cls)

    @classmethod
    def from_parameters(cls, given: dict[str, Any], at: Place) -> Self:  # noqa: ARG003
        """Make an unfitted object of parameters, each of which has been checked by itself.

        Parameters
        ----------
        given : dict
            The parameters; of those that are objects, what was read of them.
        at : Place
            Where they stand in the file.

        Returns
        -------
        Self
            The object.
        """
        made = dict(given)
        for name, value in given.items():
            if isinstance(value, Unmade):
                made[name] = value.type.from_parameters(value.given, value.at)
        return cls(**made)

    def fitted_numbers(self) -> dict[str, Any]:
        """Give what is saved of the fit.

        Returns
        -------
        dict
            The values of the fields of `fitted`.
        """
        return {name: getattr(self, f"{name}_", None) for name in (self.fitted or Record()).fields}

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:  # noqa: ARG002
        """Become what was saved.

        Parameters
        ----------
        numbers : dict
            The values of the fields of `fitted`, each of which has been checked by itself.
        at : Place
            Where they stand in the file.
        classes : ndarray of shape (k,)
            The labels.
        """
        for name, value in numbers.items():
            setattr(self, f"{name}_", value)


class Unmade(NamedTuple):
    """An unfitted object of which all was read, and nothing made yet."""

    type: type[Saved]
    given: dict[str, Any]
    at: Place


class Kind:
    """How objects of one class are taken apart, checked and put together; exactly of this class.

    A subclass may hold more than the file would.
    """

    def __init__(self, kind: type[Saved]) -> None:
        self.type = kind
        self.name, self.parameters, self.fitted = kind.name, kind.parameters, kind.fitted

    def write(self, model: Any) -> dict[str, Any]:
        """Take a fitted object apart."""
        plain = self.write_unfitted(model)
        if self.fitted is not None:
            plain["fitted"] = self.write_fitted(model)
        return plain

    def write_unfitted(self, model: Any) -> dict[str, Any]:
        """Only the kind and the parameters."""
        return {"kind": self.name, "parameters": self.parameters.write(model)}

    def write_fitted(self, model: Any) -> Any:
        """Only the fitted numbers."""
        assert self.fitted is not None
        check_fitted(model, self.type.mark)
        return self.fitted.write(model.fitted_numbers())

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields of the object in the file."""
        return ("kind", "parameters") if self.fitted is None else ("kind", "parameters", "fitted")

    def read(self, plain: dict[str, Any], at: Place, classes: Array) -> Any:
        """Put a fitted object together, of parts that are all read first."""
        given_at, fitted_at = at / "parameters", at / "fitted"
        given = self.parameters.read(plain["parameters"], given_at)
        numbers = None if self.fitted is None else self.fitted.read(plain["fitted"], fitted_at)
        model = self.type.from_parameters(given, given_at)
        if numbers is not None:
            model.take_fitted(numbers, fitted_at, classes)
        return model

    def read_unfitted(self, plain: Any, at: Place) -> Unmade:
        """What is to be an object with the parameters of the file."""
        return Unmade(self.type, self.parameters.read(plain, at), at)

    def read_several(
        self, plain: list[Any], at: Place, instead: Record | None = None
    ) -> list[tuple[Place, Any]]:
        """The fitted numbers of several objects and their places; some may have other fields instead."""
        assert self.fitted is not None
        found = []
        for number, each in enumerate(plain):
            place, fields = at[number], self.fitted
            if instead is not None and type(each) is dict and not instead.fields.keys().isdisjoint(each):
                fields = instead
            found.append((place, fields.read(each, place)))
        return found

    def schema(self) -> Schema:
        """The object in the file."""
        return one_of([object_schema(variant) for variant in self.variants()])

    def variants(self) -> list[dict[str, Schema]]:
        """The schemas of its fields, for each of the forms that it can take."""
        return [{"kind": {"const": self.name}} | {key: self.part(key) for key in self.keys[1:]}]

    def part(self, key: str) -> Schema:
        """A reference to the schema of the parameters or of the fitted numbers."""
        return {"$ref": f"#/$defs/{self.name}_{key}"}

    def definitions(self) -> dict[str, Schema]:
        """What the references refer to."""
        parts = {"parameters": self.parameters} | ({} if self.fitted is None else {"fitted": self.fitted})
        return {f"{self.name}_{key}": record.schema() for key, record in parts.items()}


def one_of(schemas: list[Schema]) -> Schema:
    """Exactly one of these."""
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


class Registered(Mapping[str, Kind]):
    """The kinds of registered classes, each of which is imported when it is asked for.

    Parameters
    ----------
    *parts : tuple
        Registries, in this order, and what scores their classes must take; None for any.
    """

    def __init__(self, *parts: tuple[Mapping[str, type[Any]], str | None]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Kind:
        for classes, takes in self._parts:
            found = classes.get(name)
            if found is not None and takes in (None, found.takes):
                kind: Kind = found.kind_in_file()
                return kind
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        for classes, takes in self._parts:
            yield from (name for name, each in classes.items() if takes in (None, each.takes))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Kinds:
    """Some kinds, found by name or by class; and what to do about a name that is not among them."""

    def __init__(self, kinds: Iterable[Kind] | Mapping[str, Kind], advice: str = "") -> None:
        self.advice = advice
        self.by_name: Mapping[str, Kind] = (
            kinds if isinstance(kinds, Mapping) else {kind.name: kind for kind in kinds}
        )

    def _find(self, model: object) -> Kind | None:
        name = str(getattr(type(model), "name", ""))  # where it has one, no other kind need be imported
        named = self.by_name.get(name)
        kinds = self.by_name.values() if named is None else (named,)
        return next((kind for kind in kinds if kind.type is type(model)), None)

    def has(self, model: object) -> bool:
        """Whether objects of this class can be saved."""
        return self._find(model) is not None

    def of(self, model: object) -> Kind:
        """The kind of an object."""
        kind = self._find(model)
        if kind is None:
            if hasattr(model, "to_score_model"):
                raise ModelFileError(
                    f"only the calibration of a {type(model).__name__} can be saved, not its learner; got "
                    "both; pass model.to_score_model(), and save the learner by means of its own library"
                )
            raise ModelFileError(
                "only calibrators of calibrant or of its registry, combinations, rules and ScoreModel can be "
                f"saved; got an object of the class {type(model).__name__}; save a learner, or what "
                "holds one, by means of its own library or of joblib"
            )
        return kind

    def named(self, plain: object, at: Place, *, fitted: bool) -> Kind:
        """The kind that an object of the file says it is, which then has exactly its fields."""
        if type(plain) is not dict:
            at.refuse("be an object", plain)
        name = plain.get("kind")
        kind = self.by_name.get(name) if type(name) is str else None
        if kind is None:
            if "kind" not in plain:
                at.fail("must have the field 'kind'; it is missing")
            (at / "kind").refuse(f"be one of {', '.join(self.by_name)}", name, self.advice)
        check_keys(plain, kind.keys if fitted else ("kind", "parameters"), at)
        return kind


class Unfitted(Field):
    """An object with its parameters alone, such as the calibrator that every column gets a copy of."""

    json_type = (dict,)
    what = "an object"

    def __init__(self, kinds: Callable[[], Kinds], resolve: Callable[[Any], Any]) -> None:
        self._kinds, self._resolve = kinds, resolve

    def write(self, value: Any) -> Any:
        """Names become what they stand for, so that the file says it all."""
        model = self._resolve(value)
        return self._kinds().of(model).write_unfitted(model)

    def _read(self, plain: Any, at: Place) -> Any:
        kind = self._kinds().named(plain, at, fitted=False)
        return kind.read_unfitted(plain["parameters"], at / "parameters")

    def schema(self) -> Schema:
        """Any of the kinds."""
        return one_of([unfitted_schema(kind) for kind in self._kinds().by_name.values()])


def unfitted_schema(kind: Kind) -> Schema:
    """The object with its parameters alone."""
    return object_schema({"kind": {"const": kind.name}, "parameters": kind.part("parameters")})
