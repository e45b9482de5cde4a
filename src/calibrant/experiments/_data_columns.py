"""What is in the files of every data set: which columns are names, which are numbers, which are left out.

A column is left out where it names the row or gives the class away: the numbers of rows in glass, lenses and
breast-cancer-wisconsin, the names in zoo, hayes-roth and echocardiogram; echocardiogram's `alive-at-1` and
`survival`, of which its class was made; the speaker in vowel, and the mark of its split. In the Biology task
`block-id` says which rows belong together: it is no feature, but rows are split by it.
"""

from dataclasses import dataclass
from typing import Literal

#: The columns of TIC (COIL 2000) that hold codes: the customer's type and main type.
_TIC_CODES = ("MOSTYPE", "MOSHOOFD")
_ADULT_NAMES = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
_SICK_NUMBERS = ("age", "TSH", "T3", "TT4", "T4U", "FTI", "TBG")
_HEPATITIS_NUMBERS = ("AGE", "BILIRUBIN", "ALK-PHOSPHATE", "SGOT", "ALBUMIN", "PROTIME")
_AUSTRALIAN_NUMBERS = ("A2", "A3", "A7", "A10", "A13", "A14")


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in the files of a data set.

    Attributes
    ----------
    nominal : "all", "none" or tuple of str
        The columns that hold names or codes.
    numeric : tuple of str
        With ``nominal="all"``, the columns that hold numbers all the same.
    dropped : tuple of str
        The columns that are no features.
    positive : str, optional
        The positive class of a set with two classes, which is the rarer one.
    has_test_file : bool
        Whether the set comes with a test file.
    block : str, optional
        The column by which rows belong together.
    ending : str
        How the names of its files end.
    """

    nominal: Literal["all", "none"] | tuple[str, ...] = "none"
    numeric: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    positive: str | None = None
    has_test_file: bool = False
    block: str | None = None
    ending: str = ".csv.gz"

    def is_nominal(self, column: str) -> bool:
        """Whether a column holds names."""
        if self.nominal == "all":
            return column not in self.numeric
        return self.nominal != "none" and column in self.nominal


#: The sets with two classes.
BINARY: dict[str, Contents] = {
    "adult": Contents(_ADULT_NAMES, positive=">50K", has_test_file=True),
    "australian": Contents("all", _AUSTRALIAN_NUMBERS, positive="1"),
    "breast-cancer": Contents("all", positive="recurrence-events"),
    "breast-cancer-wisconsin": Contents(dropped=("id",), positive="4"),
    "crx": Contents("all", ("A2", "A3", "A8", "A11", "A14", "A15"), positive="+"),
    "diabetes": Contents(positive="1"),
    "echocardiogram": Contents(
        ("pericardial-effusion",), dropped=("survival", "name", "group", "alive-at-1"), positive="1"
    ),
    "hepatitis": Contents("all", _HEPATITIS_NUMBERS, positive="1"),
    "ionosphere": Contents(positive="b"),
    "kddcup2004-bio": Contents(
        dropped=("block-id", "example-id"),
        positive="1",
        block="block-id",
        ending=".train.csv.xz",
    ),
    "kr-vs-kp": Contents("all", positive="nowin"),
    "liver-bupa": Contents(positive="1"),
    "mushroom": Contents("all", positive="p"),
    "sick": Contents("all", _SICK_NUMBERS, positive="sick", has_test_file=True),
    "tic": Contents(_TIC_CODES, positive="1", has_test_file=True),
    "tic-tac-toe": Contents("all", positive="negative"),
}
#: The sets with more classes.
MULTICLASS: dict[str, Contents] = {
    "balance-scale": Contents("all"),
    "car": Contents("all"),
    "connect-4": Contents("all"),
    "dermatology": Contents("all", ("Age",)),
    "glass": Contents(dropped=("id",)),
    "hayes-roth": Contents("all", dropped=("name",), has_test_file=True),
    "iris": Contents(),
    "lenses": Contents("all", dropped=("id",)),
    "lymphography": Contents("all"),
    "nursery": Contents("all"),
    "optdigits": Contents(has_test_file=True),
    "pendigits": Contents(has_test_file=True),
    "segment": Contents(has_test_file=True),
    "shuttle": Contents(has_test_file=True),
    "soybean": Contents("all", has_test_file=True),
    "vowel": Contents(dropped=("train-or-test", "speaker", "sex"), has_test_file=True),
    "waveform21": Contents(),
    "wine": Contents(),
    "zoo": Contents("all", ("legs",), dropped=("animal",)),
}
CONTENTS: dict[str, Contents] = BINARY | MULTICLASS
