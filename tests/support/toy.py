"""The toy world: two languages, five mentions, three entities, worked out by hand.

In Icelandic, Vín is Vienna, and also wine; in Faroese, Vín is wine only, and Vienna is Wien.
Rín is the Rhine. Who says "Vín" in Faroese, and what does it mean?

Tokens are the bigrams between two boundary marks (^ and $), so `vin` is cut into ^v vi in n$.
Case and accents do not matter here: with the names as they are written or normalised, no two
bigrams become one, and every figure below stays the same. With alpha = 0.5 for Icelandic, n(t,e) is

                  ^v   vi   in   n$   ^r   ri   ^w   wi   ie   en  | N(e)
    Q1741 Vienna  1.5  1.5  1.5  2.5   .    .    1    1    1    1  |  11      0.5 * 3 vin + 1 wien
    Q282  wine    1.5  1.5  1.5  1.5   .    .    .    .    .    .  |   6      0.5 * 1 vin + 1 vin
    Q584  Rhine    .    .    1    1    1    1    .    .    .    .  |   4      0.5 * 2 rin
    -------------------------------------------------------------- +
    N(t)           3    3    4    5    1    1    1    1    1    1  |  21

and score = A + lam * B, for lam = 1:

    Vín    ^v vi in n$
        Q1741   A = 1.5/3 + 1.5/3 + 1.5/4 + 2.5/5 = 1.875    B = (1.5 + 1.5 + 1.5 + 2.5) / 11 = 7/11
        Q282    A = 1.5/3 + 1.5/3 + 1.5/4 + 1.5/5 = 1.675    B = (1.5 + 1.5 + 1.5 + 1.5) / 6  = 1
        Q584    A =                   1/4 +   1/5 = 0.45     B = (1 + 1) / 4                  = 0.5

    The prior alone (lam = 0) says Vienna, which is seen more often; with the posterior it is wine,
    which is called nothing but Vín. The two are level at lam = 0.55.

    Vínið  ^v vi in ni ið ð$, "the wine": never seen, but three of its six bigrams are
        Q1741   A = 1.5/3 + 1.5/3 + 1.5/4 = 1.375    B = 4.5 / 11
        Q282    A = 1.5/3 + 1.5/3 + 1.5/4 = 1.375    B = 4.5 / 6 = 0.75
        Q584    A =                   1/4 = 0.25     B = 1 / 4

    With lam = 0 the first two tie, and the shorter id comes first.
"""

NAMES = {"Q1741": "Vienna", "Q282": "wine", "Q584": "Rhine"}

ICELANDIC = [("Vín", "Q1741", 3), ("Vín", "Q282", 1), ("Rín", "Q584", 2)]
FAROESE = [("Wien", "Q1741", 1), ("Vín", "Q282", 1)]

ALPHA = 0.5  # of Icelandic, the pivot
NGRAMS = (2, 2)  # the shortest and the longest token

# (mention, lam) -> candidates, best first
CANDIDATES = {
    ("Vín", 1.0): [("Q282", 1.675 + 1), ("Q1741", 1.875 + 7 / 11), ("Q584", 0.45 + 0.5)],
    ("Vín", 0.0): [("Q1741", 1.875), ("Q282", 1.675), ("Q584", 0.45)],
    ("Vínið", 1.0): [("Q282", 1.375 + 0.75), ("Q1741", 1.375 + 4.5 / 11), ("Q584", 0.25 + 0.25)],
    ("Vínið", 0.0): [("Q282", 1.375), ("Q1741", 1.375), ("Q584", 0.25)],
    ("Oslo", 1.0): [],
    ("", 1.0): [],
}
