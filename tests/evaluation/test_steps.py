"""The steps of a long run are numbered, and what is done of the whole never goes back."""

from candgen.evaluation.steps import Steps


def test_fractions_rise_from_step_to_step_and_never_reach_one():
    said = []
    steps = Steps(
        lambda doing, fraction: said.append((doing, fraction)),
        {"first": 1, "second": 2, "third": 1},
    )
    for name in ("first", "second", "third"):
        report = steps.start(name, measured=name != "second")
        for fraction in (0.0, 0.5, 0.2, 1.0, 7.0):
            report("working", fraction)
    fractions = [fraction for _, fraction in said]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0 and fractions[-1] == 0.99
    assert said[6] == ("step 2 of 3, second", 0.25)
    assert {fraction for doing, fraction in said if "second" in doing} == {0.25}
    assert said[-1][0] == "step 3 of 3, third (working)"


def test_a_step_may_be_skipped():
    said = []
    steps = Steps(lambda *given: said.append(given), {"first": 1, "second": 1})
    steps.start("second")
    assert said == [("step 2 of 2, second", 0.5)]
