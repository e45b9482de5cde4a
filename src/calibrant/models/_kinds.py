"""A kind of object that can be saved: its name in the file, its parameters, its fitted numbers.

One `Kind` per class is the whole of what the house knows about saving that class. The modules `_two_class`,
`_many_class`, `_combiners` and `_rules` hold the tables.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from calibrant._core._arrays import Array
from calibrant._core._fields import Field, Record, Schema, check_keys, object_schema
from calibrant._core._fitted import check_fitted
from calibrant._core._place import ModelFileError, Place

#: Puts fitted numbers, checked one by one, into an unfitted object; checks what concerns several of them.
Restore = Callable[[Any, dict[str, Any], Place, Array], None]


@dataclass(frozen=True)
class Kind:
    """How objects of one class are taken apart, checked and put together.

    Attributes
    ----------
    name : str
        The name in the file.
    type : type
        The class, exactly: a subclass may hold more than the file would.
    parameters : Record
        The arguments of the constructor.
    fitted : Record or None
        The fitted numbers; None for what is not fitted.
    mark : str
        The attribute that only a fitted object has.
    state : callable
        From a fitted object to the values of `fitted`.
    restore : callable
        From these values to a fitted object.
    """

    name: str
    type: type
    parameters: Record
    fitted: Record | None = None
    mark: str = ""
    state: Callable[[Any], object] | None = None
    restore: Restore | None = None

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
        assert self.state is not None
        check_fitted(model, self.mark)
        return self.fitted.write(self.state(model))

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields of the object in the file."""
        return ("kind", "parameters") if self.fitted is None else ("kind", "parameters", "fitted")

    def read(self, plain: dict[str, Any], at: Place, classes: Array) -> Any:
        """Put a fitted object together."""
        model = self.read_unfitted(plain["parameters"], at / "parameters")
        if self.fitted is not None:
            self.read_fitted(model, plain["fitted"], at / "fitted", classes)
        return model

    def read_unfitted(self, plain: Any, at: Place) -> Any:
        """An object with the parameters of the file."""
        return self.type(**self.parameters.read(plain, at))

    def read_fitted(self, model: Any, plain: Any, at: Place, classes: Array) -> None:
        """Give an object the fitted numbers of the file."""
        assert self.fitted is not None
        assert self.restore is not None
        self.restore(model, self.fitted.read(plain, at), at, classes)

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


class Kinds:
    """Some kinds, found by name or by class."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self.by_name: Mapping[str, Kind] = {kind.name: kind for kind in kinds}
        self._by_type: Mapping[type, Kind] = {kind.type: kind for kind in self.by_name.values()}

    def has(self, model: object) -> bool:
        """Whether objects of this class can be saved."""
        return type(model) in self._by_type

    def of(self, model: object) -> Kind:
        """The kind of an object."""
        if not self.has(model):
            raise ModelFileError(
                f"only calibrant's own objects can be saved, of the classes "
                f"{', '.join(sorted(each.__name__ for each in self._by_type))}; got an object of the class "
                f"{type(model).__name__}; save it by the means of its own library"
            )
        return self._by_type[type(model)]

    def named(self, plain: object, at: Place, *, fitted: bool) -> Kind:
        """The kind that an object of the file says it is, which then has exactly its fields."""
        if type(plain) is not dict:
            at.refuse("be an object", plain)
        name = plain.get("kind")
        if type(name) is not str or name not in self.by_name:
            if "kind" not in plain:
                at.fail("must have the field 'kind'; it is missing")
            (at / "kind").refuse(f"be one of {', '.join(self.by_name)}", name)
        kind = self.by_name[name]
        check_keys(plain, kind.keys if fitted else ("kind", "parameters"), at)
        return kind


class Unfitted(Field):
    """An object with its parameters alone, such as the calibrator that every column gets a copy of."""

    json_type = (dict,)
    what = "an object"

    def __init__(self, kinds: Kinds, resolve: Callable[[Any], Any]) -> None:
        self.kinds, self._resolve = kinds, resolve

    def write(self, value: Any) -> Any:
        """Names become what they stand for, so that the file says it all."""
        model = self._resolve(value)
        return self.kinds.of(model).write_unfitted(model)

    def _read(self, plain: Any, at: Place) -> Any:
        kind = self.kinds.named(plain, at, fitted=False)
        return kind.read_unfitted(plain["parameters"], at / "parameters")

    def schema(self) -> Schema:
        """Any of the kinds."""
        return one_of([unfitted_schema(kind) for kind in self.kinds.by_name.values()])


def unfitted_schema(kind: Kind) -> Schema:
    """The object with its parameters alone."""
    return object_schema({"kind": {"const": kind.name}, "parameters": kind.part("parameters")})
