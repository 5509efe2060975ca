"""placeholder"""


def page(facts, now):
    return ""
