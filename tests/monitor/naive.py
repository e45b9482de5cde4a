"""The processes of section by section of their definition, row by row: slow, and written for themselves."""

import math

import numpy as np

SHIFTS, SLOPES = (0.25, 0.5, 1.0, 2.0), (0.5, 0.7, 1.4, 2.0)


def tilt(p, slope=1.0, shifts=0.0):
    weights = np.maximum(p, 1e-12) ** slope * np.exp(shifts)
    return weights / weights.sum()


def alternatives(k):
    """(weight, slope, shifts) of every fixed alternative."""
    columns = [1] if k == 2 else range(k)
    levels = [(1.0, sign * d * np.eye(k)[j]) for d in SHIFTS for sign in (1, -1) for j in columns]
    found = [(0.6 / len(levels), *each) for each in levels]
    return found + [(0.3 / 4, slope, np.zeros(k)) for slope in SLOPES]


def safe(ratio):
    return min((1 - 2**-10) * ratio + 2**-10, 2**20)


class Learner:
    """Shifts and slope by one step of Newton's method for every 256 rows."""

    def __init__(self, k):
        self.k = k
        self.penalty = 10 * np.append(np.full(k, 1 / k), 1.0)
        self.start = np.append(np.zeros(k), 1.0)
        self.theta = self.start.copy()
        self.information, self.linear = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        self.rows = []

    def ratio(self, p, y, w):
        q = tilt(p, self.theta[-1], self.theta[:-1])
        self.rows.append((p, y, w))
        ratio = safe(q[y] / max(p[y], 1e-12))
        if len(self.rows) == 256:
            self.learn()
        return ratio

    def learn(self):
        information, gradient = np.zeros_like(self.information), np.zeros(self.k + 1)
        for p, y, w in self.rows:
            q = tilt(p, self.theta[-1], self.theta[:-1])
            features = np.column_stack([np.eye(self.k), np.log(np.maximum(p, 1e-12))])
            mean = q @ features
            gradient += w * (features[y] - mean)
            information += w * ((features - mean).T * q @ (features - mean))
        self.information = 31 / 32 * self.information + information
        self.linear = 31 / 32 * self.linear + gradient + information @ self.theta
        self.theta = np.linalg.solve(
            self.information + np.diag(self.penalty), self.linear + self.penalty * self.start
        )
        self.theta[:-1] = self.theta[:-1].clip(-4, 4)
        self.theta[-1] = self.theta[-1].clip(0.1, 4)
        self.rows = []


def process(proba, truth, weights, entering, coming, bound):
    """Rows of alarms, and the value after the last row."""
    k = proba.shape[1]
    fixed, learner = alternatives(k), Learner(k)
    values, alarms, t = np.zeros(len(fixed) + 1), [], 0
    share = np.array([*(each[0] for each in fixed), 0.1])
    for row, (p, y, w) in enumerate(zip(proba, truth, weights, strict=True)):
        ratios = []
        for _, slope, shifts in fixed:
            if slope == 1.0:
                factor = np.exp(shifts)
                ratios.append(factor[y] / (p @ factor))
            else:
                ratios.append(safe(tilt(p, slope)[y] / max(p[y], 1e-12)))
        ratios.append(learner.ratio(p, y, w))
        t += 1
        values = np.array(ratios) ** w * (values + entering(t))
        value = math.fsum(share * values) + coming(t)
        if value >= bound:
            alarms.append(row)
            values, t = np.zeros(len(values)), 0
    return alarms, math.fsum(share * values) + coming(t)
