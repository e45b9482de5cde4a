"""The data sets of Langford and Zadrozny that can be had, and how much of them a run takes."""

from calibrant.experiments._experiment import Job, Scale
from calibrant.experiments._lz05_protocol import FAMILIES, family

#: The paper's names, and those of the files. KDD-98's attributes and KDD Cup 2004 Physics cannot be had.
SETS = {
    "Adult": "adult",
    "Australian": "australian",
    "Biology": "kddcup2004-bio",
    "Breast": "breast-cancer",
    "COIL": "tic",
    "Diabetes": "diabetes",
    "Echocardio": "echocardiogram",
    "Hepatitis": "hepatitis",
    "Ionosphere": "ionosphere",
    "Kr-vs-kp": "kr-vs-kp",
    "Liver": "liver-bupa",
    "Mushroom": "mushroom",
    "Sick": "sick",
}
NAME_OF = {data: name for name, data in SETS.items()}
#: A split into a training and a test file.
STANDARD_SPLIT = ("adult", "tic", "sick")
#: A hundred thousand rows: one split by blocks, without the library's choice, and left out of a quick run.
HUGE = "kddcup2004-bio"
#: Thousands of rows: one split in a quick run.
LARGE = ("kr-vs-kp", "mushroom")
N_PROBES: dict[Scale, int] = {"quick": 20, "full": 100}
N_SPLITS: dict[Scale, int] = {"quick": 2, "full": 5}


def n_splits_of(data: str, scale: Scale) -> int:
    """How many splits of a data set are run."""
    once = (*STANDARD_SPLIT, HUGE, *(LARGE if scale == "quick" else ()))
    return 1 if data in once else N_SPLITS[scale]


def family_jobs(scale: Scale) -> list[Job]:
    """One job per data set, split and family of learners; the same jobs serve tables 1 to 4."""
    return [
        Job(family, {"data": data, "split": split, "learners": learners, "n_probes": N_PROBES[scale]})
        for data in SETS.values()
        if data != HUGE or scale == "full"
        for split in range(n_splits_of(data, scale))
        for learners in FAMILIES
        if (data, learners) != (HUGE, "library")
    ]
