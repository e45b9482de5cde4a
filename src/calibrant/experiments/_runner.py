"""Run an experiment: every job once, what is finished from the cache, what lacks its data left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from calibrant.experiments._cache import Cache
from calibrant.experiments._datasets import MissingDataError
from calibrant.experiments._experiment import Done, Experiment, Findings, Job, Scale

#: Called after every job with the number of finished jobs and the number of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An experiment that was run.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    scale : {"quick", "full"}
        How much of it.
    findings : Findings
        What was found.
    skipped : tuple of str
        One line for every data set that was not at hand.
    seconds : dict of str to float
        How long a processor worked, by the function of the jobs: experiments share jobs.
    """

    experiment: Experiment
    scale: Scale
    findings: Findings
    skipped: tuple[str, ...]
    seconds: dict[str, float]


def run_experiment(
    experiment: Experiment,
    scale: Scale = "quick",
    *,
    n_jobs: int | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run an experiment, or finish one that was interrupted."""
    cache = cache or Cache()
    jobs = list(experiment.jobs(scale))
    answers = _answers(jobs, cache, n_jobs, progress)
    done = [answer for answer in answers if isinstance(answer, Done)]
    skipped = tuple(dict.fromkeys(answer.reason for answer in answers if isinstance(answer, Missing)))
    seconds: dict[str, float] = {}
    for job, answer in zip(jobs, answers, strict=True):
        if isinstance(answer, Done):
            name = job.function.__name__
            seconds[name] = seconds.get(name, 0.0) + answer.seconds
    return Outcome(experiment, scale, experiment.collect(done), skipped, seconds)


@dataclass(frozen=True, slots=True)
class Missing:
    """The answer of a job whose data set is not at hand."""

    reason: str


def _answers(
    jobs: Sequence[Job], cache: Cache, n_jobs: int | None, progress: Progress | None
) -> list[Done | Missing | None]:
    answers: list[Done | Missing | None] = [cache.get(job) for job in jobs]
    open_jobs = [number for number, answer in enumerate(answers) if answer is None]
    finished = len(jobs) - len(open_jobs)
    if progress is not None:
        progress(finished, len(jobs))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for number, answer in parallel(delayed(_run)(number, jobs[number], cache) for number in open_jobs):
        answers[number] = answer
        finished += 1
        if progress is not None:
            progress(finished, len(jobs))
    return answers


def _run(number: int, job: Job, cache: Cache) -> tuple[int, Done | Missing]:
    """Run one job and keep its answer at once, so that an interruption loses only what is under way."""
    try:
        # Sums in several threads differ in the last digit from those in one, and workers have one each.
        with threadpool_limits(1):
            start = process_time()
            answer = job()
            seconds = process_time() - start
    except MissingDataError as error:
        return number, Missing(str(error))
    return number, cache.put(job, answer, seconds)
