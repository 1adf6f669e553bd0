"""The figures that the paper prints for its three agents on its five suites, to stand beside one's own.

Percentages and points are out of 100, as printed. Each line names agent and suite, then the figures in the order of the
columns that the name above it lists.
"""

from __future__ import annotations

from collections.abc import Mapping

AGENTS: Mapping[str, str] = {
    "qwen-turbo": "Qwen-Turbo",
    "glm-5.3-flash": "GLM-5.3-Flash",
    "deepseek-v4-flash": "DeepSeek-V4-Flash",
}

# Success of always off, always on, self-judge and the paper's rule; tokens saved by the last two.
_POLICIES = """\
qwen-turbo toolqa 28.6 44.7 44.5 44.5 -5.3 10.4
qwen-turbo medcalc 43.2 71.7 70.5 70.6 -65.8 14.8
qwen-turbo bigcodebench 43.7 51.4 51.4 47.4 -98.2 49.4
qwen-turbo logicbench 75.5 87.2 87.4 85.2 -78.7 29.1
qwen-turbo spreadsheetbench 15.5 19.8 18.3 17.8 -72.3 36.2
glm-5.3-flash toolqa 38.7 45 45.1 47.8 -2.6 23.8
glm-5.3-flash medcalc 78.4 83.3 83.3 88.3 -27.8 41.1
glm-5.3-flash bigcodebench 52 63.3 63.2 59.8 -65.4 25.4
glm-5.3-flash logicbench 69.2 85.1 84.3 83.9 -91 8.2
glm-5.3-flash spreadsheetbench 46.1 73.4 68.4 72.4 -26 4.8
deepseek-v4-flash toolqa 25.5 38.3 37.9 37.9 -5.8 3
deepseek-v4-flash medcalc 74.3 89.4 88.8 90.1 -66.1 12.4
deepseek-v4-flash bigcodebench 49.3 61.5 61.5 57.7 -85.3 26.5
deepseek-v4-flash logicbench 74.4 85.1 84 83.6 -85.6 19.5
deepseek-v4-flash spreadsheetbench 46.5 61.4 49.4 59.9 -28.5 8
"""
# Success and tokens saved of the relevance gate; self-judge's use rate and router tokens; balanced accuracy gain with interval.
_NO_HISTORY = """\
qwen-turbo toolqa 36.99 3.07 94.2 1164 30.41 27.99 32.75
qwen-turbo medcalc 60 25.31 98.1 1583 19.65 17.11 22.21
qwen-turbo bigcodebench 50.18 46.76 99.5 4976 1.77 -2.49 6.09
qwen-turbo logicbench 83.03 35.69 98.3 1314 8.55 4.78 12.27
qwen-turbo spreadsheetbench 18.3 35.53 93.7 2955 8.01 -2.35 18.68
glm-5.3-flash toolqa 40.84 11.17 99.4 1322 29.86 26.69 32.87
glm-5.3-flash medcalc 83.55 37.92 99.8 1691 27.19 23.76 30.48
glm-5.3-flash bigcodebench 61.71 25.99 98.9 5231 6.63 2.6 10.55
glm-5.3-flash logicbench 74.25 21.49 96.3 2224 6.6 3.14 10.01
glm-5.3-flash spreadsheetbench 57.89 16.51 91.2 3264 16.19 11.23 21.07
deepseek-v4-flash toolqa 30.96 -0.66 96.4 1396 21.54 19.11 23.99
deepseek-v4-flash medcalc 81.48 10.8 97.8 1680 26.75 24.08 29.4
deepseek-v4-flash bigcodebench 59.54 39.02 96 5514 -0.03 -3.36 3.21
deepseek-v4-flash logicbench 80.61 24.88 91.3 1821 11.5 7.02 15.95
deepseek-v4-flash spreadsheetbench 51.38 20.43 44.4 3346 13.49 6.57 20.36
"""
# Intervals of AUROC and of the success gain over always off.
_INTERVALS = """\
qwen-turbo toolqa 0.849 0.907 13.9 18
qwen-turbo medcalc 0.751 0.81 24.5 30.4
qwen-turbo bigcodebench 0.478 0.577 1.8 5.5
qwen-turbo logicbench 0.574 0.667 7.2 12.2
qwen-turbo spreadsheetbench 0.478 0.681 -0.8 5.5
glm-5.3-flash toolqa 0.792 0.875 7.5 10.7
glm-5.3-flash medcalc 0.819 0.891 7.9 11.9
glm-5.3-flash bigcodebench 0.52 0.616 5.9 9.7
glm-5.3-flash logicbench 0.55 0.634 12 17.4
glm-5.3-flash spreadsheetbench 0.638 0.745 21.6 31.1
deepseek-v4-flash toolqa 0.751 0.811 10.8 14.1
deepseek-v4-flash medcalc 0.793 0.852 13.8 17.8
deepseek-v4-flash bigcodebench 0.526 0.604 6.8 10.1
deepseek-v4-flash logicbench 0.599 0.693 7.1 11.4
deepseek-v4-flash spreadsheetbench 0.607 0.721 10.2 16.5
"""
# Test tasks; always on; success and tokens saved of Ridge and of Dual Ridge; Dual Ridge minus always on with interval.
_RIDGE = """\
qwen-turbo toolqa 286 44.76 43.71 9.09 43.71 11.27 -1.05 -3.51 1.4
qwen-turbo medcalc 220 75.91 72.27 19.17 73.64 19.55 -2.27 -5.07 0.46
qwen-turbo bigcodebench 228 50.88 50.88 4.21 50.44 27.9 -0.44 -3.07 2.19
qwen-turbo logicbench 152 89.04 87.94 22.83 87.94 22.83 -1.1 -4.25 2.03
qwen-turbo spreadsheetbench 80 18.75 18.75 0 18.75 0 0 0 0
glm-5.3-flash toolqa 286 43.71 46.15 16.26 45.45 21.98 1.75 -1.74 4.91
glm-5.3-flash medcalc 220 87.27 81.82 60.33 78.64 62.44 -8.64 -14.55 -2.7
glm-5.3-flash bigcodebench 228 63.6 63.6 0 63.6 1.87 0 -1.32 1.32
glm-5.3-flash logicbench 152 85.75 85.09 6.24 84.43 5.08 -1.32 -2.83 -0.22
glm-5.3-flash spreadsheetbench 80 67.5 66.25 4.04 63.75 10.24 -3.75 -8.75 1.25
deepseek-v4-flash toolqa 286 35.55 35.31 0.75 35.78 4.77 0.23 -0.94 1.52
deepseek-v4-flash medcalc 220 90.76 92.42 8.58 92.12 10.11 1.36 -0.61 3.67
deepseek-v4-flash bigcodebench 228 59.5 59.5 3.87 59.36 18.66 -0.15 -1.61 1.17
deepseek-v4-flash logicbench 152 87.72 86.62 6.48 87.28 12.29 -0.44 -2.37 1.4
deepseek-v4-flash spreadsheetbench 80 57.08 55.42 16.8 55.42 16.8 -1.67 -5.42 2.92
"""
# AUROC, success and tokens saved of estimators on the same paired history; the paper prints them for Qwen-Turbo.
_ESTIMATORS = """\
paper toolqa 0.879 44.55 10.37
tfidf_knn toolqa 0.877 44.27 10.28
family_mean toolqa 0.786 45.38 7.55
paper medcalc 0.781 70.64 14.82
tfidf_knn medcalc 0.789 70.55 13.33
family_mean medcalc 0.785 71.55 7.71
paper bigcodebench 0.527 47.36 49.41
tfidf_knn bigcodebench 0.582 48.94 48.11
family_mean bigcodebench 0.474 49.56 19.25
paper logicbench 0.621 85.22 29.05
tfidf_knn logicbench 0.546 85.09 27.67
family_mean logicbench 0.622 87.46 16.02
paper spreadsheetbench 0.58 17.79 36.16
tfidf_knn spreadsheetbench 0.582 17.04 40.33
family_mean spreadsheetbench 0.322 19.8 0
"""
# Means over the 15 panels of equal weight, by setting of the rule: success, advantage over random, tokens saved.
MEANS: Mapping[str, tuple[float, float, float]] = {
    "k = 6, cosine": (63.12, 4.33, 20.83),
    "k = 3, cosine": (61.83, 4.63, 26.87),
}
# Means of the decomposition with their intervals.
WITHIN, BETWEEN = (0.61, 0.37, 0.93), (3.72, 3.47, 3.91)
ALWAYS_ON = 64.04
# The rule's within-group part on ToolQA, averaged over the three agents.
TOOLQA_WITHIN = 4.41
# Pairs that the skill helped and harmed, by agent and suite; the paper prints them for two panels.
EFFECTS: Mapping[tuple[str, str], tuple[int, int]] = {
    ("qwen-turbo", "toolqa"): (265, 35),
    ("glm-5.3-flash", "toolqa"): (177, 86),
}
# Panels of 15 in which the rule is ahead, by the key of the count.
COUNTS: Mapping[str, int] = {
    "auroc_over_relevance": 12,
    "auroc_over_with_skill_only": 12,
    "auroc_over_both": 10,
    "auroc_over_self_judge": 15,
    "success_over_off": 15,
    "success_over_off_clearly": 14,
    "success_over_random": 15,
    "saves_tokens": 15,
    "success_below_on": 12,
}
# Prospective panels: known tasks, targets, AUROC, balanced accuracy, success gain, tokens saved.
PROSPECTIVE: Mapping[str, tuple[float, ...]] = {
    "ToolQA, unseen tasks within 8 families": (96, 160, 0.753, 0.689, 20.00, 3.62),
    "MedCalc, new tasks across 55 families": (440, 660, 0.719, 0.667, 16.21, 32.35),
    "BigCode, scale follow-up (20/family)": (200, 150, 0.716, 0.663, 2.00, 64.43),
    "BigCode, natural remaining distribution": (350, 200, 0.502, 0.572, 7.00, 32.88),
}


def printed(table: str) -> dict[tuple[str, str], tuple[float, ...]]:
    """The figures of a table by agent and suite; of `estimators` by estimator and suite."""
    text = {
        "policies": _POLICIES,
        "no_history": _NO_HISTORY,
        "intervals": _INTERVALS,
        "ridge": _RIDGE,
        "estimators": _ESTIMATORS,
    }[table]
    rows = [line.split() for line in text.splitlines()]
    return {(name, suite): tuple(map(float, figures)) for name, suite, *figures in rows}


def paper_agent(agent: str) -> str | None:
    """The paper's agent that a name means, whatever provider stands before it; None for another model."""
    name = agent.rsplit("/", 1)[-1].lower()
    return next((known for known in AGENTS if known in name), None)
