"""Romanization of alphabets where anyascii's table of single characters is wrong.

Alphabets are tables. Letters that depend on their neighbours have rules, each a regular expression
and its replacement; they are applied in turn, before the tables. Where transliterations differ, the
one that finds more names of the development queries was chosen: see docs/romanize.md.
"""

from collections.abc import Iterable, Mapping

Alphabet = Mapping[str, str]
Rules = tuple[tuple[str, str], ...]


def letter_table(letters: Iterable[str], latin: str) -> dict[str, str]:
    """Return a table from letters to their romanizations, given between spaces; _ is none.

    >>> letter_table("щь", "sc _")
    {'щ': 'sc', 'ь': ''}
    """
    return dict(zip(letters, latin.replace("_", "").split(" "), strict=True))


CYRILLIC: Alphabet = {
    **letter_table("абвгдежзийклмнопрст", "a b v g d e z z i y k l m n o p r s t"),
    **letter_table("уфхцчшщъыьэюя", "u f h c c s sc _ y _ e yu ya"),
    **letter_table("ѐёѓђєѕіїјљњћќѝўџґ", "e e gj dj e dz i i y ly ny c kj i u dz g"),
    **letter_table("әғҕқҡңҥөүұһҳҙҫҗҷӣӯӑӗӳӕ", "a g g k k ng ng o u u h h z s j j i u a e u a"),
    "ӏ": "",
}
"""Ж, ш and ч are ž, š and č without marks, as in Croatian, Czech and Latvian names."""

CYRILLIC_OF: Mapping[str, Alphabet] = {
    "": letter_table("жчшщёй", "zh ch sh shch yo i"),
    "bg": {"щ": "st", "ъ": "a"},
}
"""The empty string stands for an unknown language: it is romanized as in English."""

ARABIC: Alphabet = {
    **letter_table("ءآأؤإئابةتثجحخد", "_ a a o i _ a b a t s j h kh d"),
    **letter_table("ذرزسشصضطظعغفقكل", "z r z s sh s z t z a g f q k l"),
    **letter_table("منهوىيٱٹپچڈڑژکگ", "m n h o a i a t p ch d r zh k g"),
    **letter_table("ںھہۂۃیےۓ", "n h h h a i e e"),
    **dict.fromkeys(map(chr, (*range(0x64B, 0x660), 0x670)), ""),
    **letter_table("\u064e\u064f\u0650", "a u i"),
}
"""Consonants, vowels that have letters, and vowel marks, which most texts omit."""

_LITERARY_ARABIC = letter_table("ثذضظغ", "th dh d z gh")
ARABIC_OF: Mapping[str, Alphabet] = {
    "": letter_table("ثذ", "th dh"),
    "ar": _LITERARY_ARABIC,
    "arz": _LITERARY_ARABIC,
    "ary": _LITERARY_ARABIC,
    "ckb": {"و": "u", "ی": "i", "ە": "e", "غ": "gh"},
    "ug": {"و": "o", "ى": "i", "ي": "y", "ۋ": "w", "غ": "gh"},
}

_ARABIC_LETTER = "[\u0620-\u065f\u0670-\u06d3\u06d5]"
_LONG_A = "[اآ]"
_ARABIC_RULES: Rules = (
    ("([ء-ي])([\u064b-\u0650]?)\u0651", r"\1\1\2"),
    ("[عاأإ](?=[\u064e-\u0650])", ""),
    ("\u064eا", "a"),
    ("\u064fو(?![\u064b-\u0650])", "u"),
    ("\u0650ي(?![\u064b-\u0650])", "i"),
    ("أو", "o"),
    ("إ[يی]", "i"),
    (f"(?<!{_ARABIC_LETTER})و(?={_ARABIC_LETTER})", "v"),
    (f"(?<={_LONG_A})و(?=[اآیيے])", "v"),
    (f"(?<!v)(?<!{_ARABIC_LETTER})[یي](?={_ARABIC_LETTER})", "y"),
    (f"[یي](?={_LONG_A})", "i"),
    (f"(?<={_ARABIC_LETTER})[ہه](?!{_ARABIC_LETTER})", "a"),
)
_KURDISH_VOWEL = "[اەێۆیو]"
_KURDISH_RULES: Rules = (
    ("وو", "u"),
    (f"(?<!{_ARABIC_LETTER})و(?={_KURDISH_VOWEL})|(?<=[اەێۆی])و|و(?=[اەێۆی])", "w"),
    (f"(?<!{_ARABIC_LETTER})ی|(?<=[اەێۆ])ی|ی(?=[اەێۆ])", "y"),
)

_HEBREW_VOWELS = {
    **letter_table("\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6", "_ e a o i e e"),
    **letter_table("\u05b7\u05b8\u05b9\u05ba\u05bb\u05c7", "a a o o u o"),
}
HEBREW: Alphabet = {
    **letter_table("אבגדהוזחטיךכלם", "a b g d h o z h t i ch k l m"),
    **letter_table("מןנסעףפץצקרשת", "m n n s a f p tz tz k r sh t"),
    **dict.fromkeys("\u05bc\u05bd\u05bf\u05c1\u05c2׳״", ""),
    **_HEBREW_VOWELS,
}
"""Consonants, vowel letters, and vowel points."""

HEBREW_OF: Mapping[str, Alphabet] = {
    "yi": {
        **letter_table("אוחךכעפתצץ", "_ u kh kh kh e f s ts ts"),
        **dict.fromkeys(_HEBREW_VOWELS, ""),
    }
}

_HEBREW_LETTER = "[\u05b0-\u05bd\u05bf-\u05f2]"
_AT_START = "(?<![a-z\u05b0-\u05bd\u05bf-\u05f2])"
_AT_END = f"(?!{_HEBREW_LETTER})"
_POINT = "[\u05b0-\u05bb\u05c7]"
_DAGESH = f"(?={_POINT}?\u05bc)"
_HEBREW_RULES: Rules = (
    # Letters with vowel points, or with the dot that makes a stop.
    ("ש(?=[\u05b0-\u05bc\u05c7]*\u05c2)", "s"),
    (f"ב{_DAGESH}", "b"),
    (f"ב(?={_POINT})", "v"),
    (f"[כך]{_DAGESH}", "k"),
    (f"[כך](?={_POINT})", "ch"),
    (f"[פף]{_DAGESH}", "p"),
    (f"[פף](?={_POINT})", "f"),
    ("ו[\u05b9\u05ba]", "o"),
    ("ו\u05bc", "u"),
    ("[\u05bc\u05bf\u05c1\u05c2]", ""),
    (f"ו(?={_POINT})", "v"),
    (f"[אע](?={_POINT}|[ou])", ""),
    (f"(?<=[\u05b4\u05b5])י(?!{_POINT})", ""),
    (f"י(?={_POINT})|(?<=[\u05b6-\u05b9])י", "y"),
    (f"(?<=[\u05b6-\u05b8])ה{_AT_END}", ""),
    (f"{_AT_START}([א-ת])\u05b0", r"\1e"),
    # Letters without points. An apostrophe marks the sounds of foreign names.
    ("[צץ]['׳]", "ch"),
    ("ג['׳]", "j"),
    ("ז['׳]", "zh"),
    ("ת['׳]", "th"),
    ("ד['׳]", "dh"),
    ("ו['׳]", "w"),
    ("יי", "ei"),
    (f"ב{_AT_END}", "v"),
    (f"(?<=[בגדזחטכלמנספצקשת])(?=[רלןם]{_AT_END})", "e"),
    ("וו", "v"),
    (f"{_AT_START}ו(?={_HEBREW_LETTER})", "v"),
    (f"{_AT_START}י(?={_HEBREW_LETTER})", "y"),
    (f"(?<={_HEBREW_LETTER})ה{_AT_END}", "a"),
)
_YIDDISH_RULES: Rules = (
    ("א\u05b8", "o"),
    ("א\u05b7", "a"),
    ("פ\u05bc", "p"),
    ("כ\u05bc", "k"),
    ("ת\u05bc", "t"),
    ("[ײ]\u05b7|יי\u05b7", "ay"),
    ("ײ|יי", "ey"),
    ("װ|וו", "v"),
    ("ױ|וי", "oy"),
    (f"(?<!{_HEBREW_LETTER})י(?=[aoאוע])", "y"),
)

GREEK: Alphabet = letter_table(
    "αβγδεζηθικλμνξοπρστυφχψω", "a v g d e z i th i k l m n x o p r s t y f h ps o"
)
_GREEK_LETTER = "[\u0370-\u03ff\u1f00-\u1fff]"
_GREEK_RULES: Rules = (
    ("ο[υύ]", "ou"),
    ("([αε])[υύ](?=[θκξπστφχψ])", r"\1f"),
    ("([αε])[υύ]", r"\1v"),
    ("(?<=[υύ])μπ(?=[αεηιουωάέήίόώ])", "mp"),
    ("μπ", "b"),
    ("ντζ", "j"),
    ("(?<=[βγδζθκλμνξπρσφχψ])ντ", "d"),
    (f"(?<!{_GREEK_LETTER})ντ|ντ(?!{_GREEK_LETTER})", "d"),
    ("νγκ", "ng"),
    ("γκ", "g"),
    ("γι(?=[αεοωυάέόώύ])", "y"),
    ("γ(?=[γξχ])", "n"),
)
"""Accents distinguish diphthongs, so these rules apply before the accents are removed."""

ARMENIAN: Alphabet = {"ը": "e", "ռ": "r", "ւ": "v"}
_ARMENIAN_RULES: Rules = (
    ("ու", "u"),
    ("(?<![\u0561-\u0587])ե(?=[\u0561-\u0587])", "ye"),
    ("(?<![\u0561-\u0587])ո(?=[\u0561-\u0587])", "vo"),
)

_LAO_RULES: Rules = (("([ເແໂໃໄ])([ກ-ຮ])", r"\2\1"),)
"""Vowels that are written before their consonant and pronounced after it."""

GEORGIAN: Alphabet = {"ყ": "k", "ფ": "f"}
"""Foreign names have p as პ, and f as ფ."""
TIFINAGH: Alphabet = {"ⵅ": "h", "ⵛ": "ch"}
"""As in French, which most Latin forms of these names follow."""
MONGOLIAN: Alphabet = letter_table("ᠴᠱᡧ", "c sh sh")
SYRIAC: Alphabet = {
    **letter_table("ܐܒܓܕܗܘܙܚܛܝܟ", "a b g d h o z h t i k"),
    **letter_table("ܠܡܢܣܥܦܨܩܪܫܬ", "l m n s a p s q r sh t"),
}
"""Vowel letters stand for vowels, as in Hebrew."""

BOPOMOFO: Alphabet = {
    **letter_table("ㄅㄆㄇㄈㄉㄊㄋㄌㄍㄎㄏㄐㄑㄒ", "b p m f d t n l g k h j q x"),
    **letter_table("ㄓㄔㄕㄖㄗㄘㄙ", "zh ch sh r z c s"),
    **letter_table(
        "ㄚㄛㄜㄝㄞㄟㄠㄡㄢㄣㄤㄥㄦㄧㄨㄩ", "a o e e ai ei ao ou an en ang eng er i u u"
    ),
}
_FIRST_BOPOMOFO = "(?<![ㄅ-ㄩa-z])"
_BOPOMOFO_RULES: Rules = (
    ("([ㄓㄔㄕㄖㄗㄘㄙ])(?![ㄚ-ㄩ])", r"\1i"),
    (f"{_FIRST_BOPOMOFO}ㄩㄥ", "yong"),
    (f"{_FIRST_BOPOMOFO}ㄩㄣ", "yun"),
    (f"{_FIRST_BOPOMOFO}ㄩ", "yu"),
    ("ㄩㄥ", "iong"),
    ("ㄩㄣ", "un"),
    ("ㄩㄝ", "ue"),
    (f"{_FIRST_BOPOMOFO}ㄨ(?=[ㄚ-ㄥ])", "w"),
    (f"{_FIRST_BOPOMOFO}ㄨ", "wu"),
    ("ㄨㄥ", "ong"),
    ("ㄨㄣ", "un"),
    ("ㄨㄟ", "ui"),
    (f"{_FIRST_BOPOMOFO}ㄧ(?=[ㄚ-ㄢㄤㄦ])", "y"),
    (f"{_FIRST_BOPOMOFO}ㄧ", "yi"),
    ("(?<=[ㄧi])ㄥ", "ng"),
    ("(?<=[ㄧi])ㄣ", "n"),
    ("ㄧㄡ", "iu"),
    ("(?<=[a-zㄅ-ㄩ])[ˊˇˋ]", ""),
)
"""The spelling of Pinyin; marks of tones divide syllables."""

RULES: Mapping[int, Rules] = {
    **dict.fromkeys((0x6, 0x7, 0x3E, 0x3F), _GREEK_RULES),
    0xA: _ARMENIAN_RULES,
    0xB: _HEBREW_RULES,
    **dict.fromkeys((0xC, 0xD), _ARABIC_RULES),
    0x1D: _LAO_RULES,
    0x62: _BOPOMOFO_RULES,
}
"""The rules of a script, by the blocks of 128 code points that it occupies."""

RULES_OF: Mapping[str, Mapping[int, Rules]] = {
    "ckb": dict.fromkeys((0xC, 0xD), _KURDISH_RULES),
    "ug": dict.fromkeys((0xC, 0xD), ()),
    "yi": {0xB: _YIDDISH_RULES},
}
"""The rules of a language, which replace those of the script."""

LANGUAGES = frozenset({*CYRILLIC_OF, *ARABIC_OF, *HEBREW_OF})
"""Languages that have an alphabet of their own here, and the empty string, an unknown one."""
