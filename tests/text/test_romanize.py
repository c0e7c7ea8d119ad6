"""Romanization: well-known names, and properties that hold for every text."""

import doctest
import subprocess
import sys
import unicodedata

import pytest
from anyascii import anyascii
from hypothesis import given
from hypothesis import strategies as st

import candgen.text.romanize
from candgen.text.alphabets import ARABIC_OF, CYRILLIC_OF, HEBREW_OF
from candgen.text.normalize import normalize, normalize_joined, normalize_many

NAMES = {
    "hi": "भारत bharat, मुंबई mumbai, दिल्ली dilli, महाराष्ट्र maharashtra, राजधानी rajdhani, "
    "गाँधी gandhi, फ़्रांस frans, लॉस एंजेलिस los enjelis, सरकार sarkar, केंद्र kendra, "
    "कलकत्ता kalkatta, ज्ञान gyan, बच्चन bacchan, द da, उत्तर प्रदेश uttar pradesh",
    "mr": "पुणे pune, ठाणे thane, नागपूर nagpur, सोलापूर solapur, बॅरन baran, ॲन an, "
    "चंद्रपूर chandrapur, एडवर्ड edvard",
    "sa": "भारत bharata, राम rama, अर्जुन arjuna",
    "bn": "কলকাতা kolkata, ঢাকা dhaka, বাংলাদেশ bangladesh, ওয়াশিংটন washington, খুলনা khulna, "
    "ক্যালিফোর্নিয়া kaliforniya, সিলেট silet, যশোর joshor",
    "gu": "ગુજરાત gujrat, સુરત surat, રાજકોટ rajkot, ભાવનગર bhavangar, વડોદરા vadodra, "
    "ગાંધીનગર gandhingar, દિલ્હી dilhi, મુંબઈ mumbai",
    "pa": "ਪੰਜਾਬ panjab, ਲੁਧਿਆਣਾ ludhiana, ਦਿੱਲੀ dilli, ਸ਼ਿਮਲਾ shimla, ਪਟਿਆਲਾ patiala, "
    "ਜਲੰਧਰ jalandhar, ਲੰਡਨ landan, ਮੁੰਬਈ mumbai",
    "or": "ଓଡ଼ିଶା orisha, କଟକ katak, ପୁରୀ puri, ଭାରତ bharat",
    "ta": "சென்னை sennai, மதுரை madurai, தமிழ்நாடு tamizhnadu, கோவை kovai, இந்தியா indiya, "
    "திருச்சி tirucchi, ஈரோடு irodu, வேலூர் velur, "
    "லட்சுமி latsumi, மீனாட்சி minakshi, ஃபாத்திமா fattima, கோபால் kobal",
    "te": "హైదరాబాద్ haidarabad, చెన్నై chennai, గుంటూరు gunturu, తెలంగాణ telangana, "
    "విజయవాడ vijayavada, వరంగల్ varangal, భారతం bharatam, కర్నూలు karnulu",
    "kn": "ಬೆಂಗಳೂರು bengaluru, ಮೈಸೂರು maisuru, ಕರ್ನಾಟಕ karnataka, ಭಾರತ bharata, ಉಡುಪಿ udupi, "
    "ಹಾಸನ hasana, ಕೋಲಾರ kolara, ಧಾರವಾಡ dharavada",
    "ml": "കൊച്ചി kochi, കേരളം keralam, കൊല്ലം kollam, തൃശൂർ trishur, കോട്ടയം kottayam, "
    "ഇടുക്കി ituki, കണ്ണൂർ kannur, പാലക്കാട് palakat, ആന്റണി antani, മരിയ maria",
    "si": "කොළඹ kolamba, ශ්‍රී ලංකා shri lanka, මහනුවර mahanuvara, ගාල්ල galla",
    "mk": "Скопје skopye, Штип stip, Ѓорче Петров gjorce petrov, Куманово kumanovo, Охрид ohrid, "
    "Битола bitola, Ќустендил kjustendil, Обама obama",
    "sr": "Београд beograd, Ниш nis, Ђорђе djordje, Чачак cacak, Љубљана lyublyana, Шабац sabac, "
    "Niš nis, Šabac sabac, Čačak cacak, Đorđe dorde",
    "bg": "София sofiya, Търговище targoviste, Бургас burgas, Шумен sumen, Видин vidin, "
    "Русе ruse, Щутгарт stutgart, Хамбург hamburg",
    "ru": "Москва moskva, Пётр petr, Горький gorkiy, Челябинск celyabinsk, Юрий yuriy, "
    "Выборг vyborg, Эстония estoniya, Щукин scukin",
    "uk": "Київ kiiv, Одеса odesa, Гамбург gamburg, Іван ivan, Їжак izak, Євпаторія evpatoriya, "
    "Харків harkiv, Ґданськ gdansk",
    "kk": "Алматы almaty, Қарағанды karagandy, Көкшетау koksetau, Ақтөбе aktobe, Өскемен oskemen, "
    "Түркістан turkistan, Шымкент symkent, Әлия aliya",
    "be": "Мінск minsk, Гродна grodna, Магілёў magileu, Брэст brest",
    "ur": "پاکستان pakstan, لاہور lahor, کراچی krachi, واشنگٹن vashngtn, برلن brln, ایران airan, "
    "مدینہ mdina, یورپ yorp, آگرہ agra, ڈھاکہ dhaka, جاوا java, جاوید javid, "
    "ویتنام vitnam, وین vin",
    "fa": "تهران thran, ایران airan, شیراز shiraz, مشهد mshhd, یزد yzd, تبریز tbriz",
    "ar": "القاهرة alqahra, دمشق dmshq, بغداد bghdad, مكة mka, عدن adn, وهران vhran, حلب hlb, "
    "بيروت birot, ويانا viana, محمد mhmd",
    "ckb": "هەولێر hewler, سلێمانی slemani, کوردستان kurdstan",
    "ug": "ئۈرۈمچى urumchi, قەشقەر qeshqer, غۇلجا ghulja",
    "he": "ירושלים yroshlim, חיפה hipa, אילת ailt, נתניה ntnia, וינה vina, דוד dod, שרון shron, "
    "אֲבִיגַיִל avigayil, שָׁלוֹם shalom, יִשְׂרָאֵל yisrael, משה msha, מֹשֶׁה moshe, פטר pter, ג׳ורג׳ jorj, "
    "לונדון london",
    "yi": "ווילנע vilne, נײַ־יאָרק nay-york, וואַרשע varshe, דײַטש daytsh",
    "el": "Αθήνα athina, Θεσσαλονίκη thessaloniki, Ευρώπη evropi, Μπάρακ barak, Ντένβερ denver, "
    "Ολυμπία olympia, Άγγελος angelos, Ρουμανία roumania, Αϋφαντής ayfantis, Γκάνα gana, "
    "Γκόρντον gordon, Γιόχαν yohan, Ζάκερμπεργκ zakerberg, Αντώνης antonis",
    "hy": "Երևան yerevan, Հայաստան hayastan, Գյումրի gyumri, Վանաձոր vanadzor, Ոսկի voski",
    "ka": "თბილისი tbilisi, ფილიპე filipe, ბათუმი batumi, ჭიათურა chiatura, "
    "ქუთაისი kutaisi, ᲒᲝᲠᲘ gori",
    "ko": "서울 seoul, 부산 busan, 대구 daegu, 인천 incheon, 런던 reondeon, 스미스 smis, "
    "블라디미르 beuladimir, 이승만 iseungman, 요시다 yosida, 쇼타 shota, 도쿄 dokyo",
    "ja": "トーキョー tokyo, キャッチ kyatchi, サッポロ sapporo, しんじゅく shinjuku, "
    "ウィーン win, イェール yel, ファ fa, ｶﾞﾝﾀﾞﾑ gandam, "
    "スミス smis, フランク frank, マット mat, すみす sumisu, なごや nagoya",
    "zh": "北京 beijing, 上海 shanghai, 南京 nanjing, 巴黎 bali, "
    "ㄇㄧㄥˊㄩˇ mingyu, ㄓㄨㄥ zhong, ㄨㄤˊ wang, ㄓˋㄧㄥ zhiying, ㄐㄩㄣ jun",
    "th": "ไทย thai, เปรู peru, โคราช korach, สมชาย somchai, ถนน thanon, กรุงเทพ krungthep, "
    "จันทร์ chan, เปรม prem, เชียงใหม่ chiangmai, ภูเก็ต puket, เบิร์ก berk",
    "lo": "ລາວ lav, ໄທ thai",
    "km": "កាគីនូម៉ា kakinuma, អាន់តុន anton, ភ្នំពេញ phnompenh, ពត pot, ខៀវ khiev",
    "my": "ကာလ် kal, အောင်ဆန်း aungsan, နာဂယာ nagaya, မန္တလေး mantale, ၵႃးလ် kal",
    "bo": "རྒྱལ་མཐོང gyalthong, རྡོ་རྗེ dorje, ལྷ་ས lhasa, བདེ་ཆེན dechen, ཀརལ karl, བསོད་ནམས sonam, "
    "དབྱངས་ཅན yangchan, བསྟན་འཛིན tendzin, ཏ་ཀེ་མ་ས takemasa, གྲུབ grub",
    "syr": "ܐܢܛܘܢ anton, ܚܣܢ hsn",
    "zgh": "ⵀⵉⵛⴰⵎ hicham",
    "am": "አዲስ አበባ adis abeba, ኢትዮጵያ ityopya",
    "de": "Köln koln, Straße strasse, Überlingen uberlingen",
    "tr": "ISPARTA isparta, İzmir izmir, Iğdır igdir, Diyarbakır diyarbakir, şişli sisli",
    "az": "Bakı baki, Gəncə gence, XANKƏNDİ xankendi, Şəki seki",
    "is": "Þórður thordur, Æsir aesir, Reykjavík reykjavik, Öxará oxara",
    "pl": "Łódź lodz, Kraków krakow, Gdańsk gdansk, Bydgoszcz bydgoszcz",
    "fo": "Tórshavn torshavn, Føroyar foroyar, Ærøskøbing aeroskobing, Åbo abo, Œuvre oeuvre",
}


@pytest.mark.parametrize("language", NAMES)
def test_known_names(language):
    pairs = [pair.split(" ") for pair in NAMES[language].split(", ")]
    names = [" ".join(words[: len(words) // 2]) for words in pairs]
    expected = [" ".join(words[len(words) // 2 :]) for words in pairs]
    assert normalize_many(names, "latin", language=language) == expected
    apart = [unicodedata.normalize("NFD", name) for name in names]
    assert normalize_many(apart, "latin", language=language) == expected


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("", ""),
        (" \t\u200b", ""),
        ("Plain ASCII, 42", "plain ascii, 42"),
        ("Москва (Moscow) मुंबई 서울", "moskva (moscow) mumbai seoul"),
        ("\ue000", "\ue000"),  # private use: no romanization, and nothing else
        ("a\ue000b", "ab"),
        ("\u0301", "\u0301"),
        ("𝔸𝒷𝟛 𐌲𐌿𐍄", "ab3 gut"),
        ("O’Brien – «x»", "o'brien - <<x>>"),
        ("½ № ①", "1/2 no 1"),
        ("हिन्दी १२३", "hindi 123"),
        ("कअ", "kaa"),
        ("عَلِي محمّد", "ali mhmmd"),
        ("Щукин Пётр", "shchukin pyotr"),
        ("क\u093cि", "qi"),  # a dot that is written apart
        ("म\u093c", "ma"),  # a dot that does not occur there
    ],
)
def test_other_texts(text, latin):
    assert normalize(text, "latin") == latin


def test_a_language_of_another_region_is_the_language():
    for code in ("bg", "BG", "bg-Cyrl", "bg_BG"):
        assert normalize("Търговище", "latin", language=code) == "targoviste"
    assert normalize("Търговище", "latin", language="xx") == "trgovisce"


OWN = sorted({*CYRILLIC_OF, *ARABIC_OF, *HEBREW_OF, "sa"})
languages = st.sampled_from([None, "en", "tr", "hi", *OWN])
# The characters of these scripts meet each other more often than chance would have it.
SCRIPTS = [
    (0x900, 0xDFF),
    (0x600, 0x6FF),
    (0x5B0, 0x5F4),
    (0x370, 0x3FF),
    (0x400, 0x52F),
    (0xE00, 0xEFF),
    (0x530, 0x58F),
    (0x3040, 0x30FF),
    (0x1F00, 0x1FFF),
    (0xAC00, 0xACFF),
    (0x1100, 0x11FF),
    (0xF00, 0xFBF),
    (0x1000, 0x109F),
    (0x1780, 0x17DF),
    (0x3100, 0x312F),
    (0x700, 0x74F),
]
one_script = st.sampled_from(SCRIPTS).flatmap(
    lambda span: st.text(
        st.one_of(
            st.characters(min_codepoint=span[0], max_codepoint=span[1], exclude_categories=["Cn"]),
            st.sampled_from(" -a"),
        ),
        max_size=12,
    )
)
texts = st.one_of(one_script, st.text(max_size=12)).map(lambda text: text.replace("\n", " "))


@given(texts, languages)
def test_twice_is_once(text, language):
    once = normalize(text, "latin", language=language)
    assert normalize(once, "latin", language=language) == once


@given(texts, languages)
def test_nothing_is_lost_but_what_the_default_loses(text, language):
    folded = normalize(text, language=language)
    assert bool(normalize(text, "latin", language=language)) == bool(folded)


@given(texts, languages)
def test_ascii_or_the_default(text, language):
    latin = normalize(text, "latin", language=language)
    assert latin.isascii() or latin == normalize(text)
    assert latin == latin.lower() or not latin.isascii()
    if any(anyascii(c).strip("' `") for c in normalize(text) if c.isalpha()):
        assert latin.isascii() or not romanizable(text)


def romanizable(text):
    """Whether a letter that is always written is there: not a hard sign, say."""
    return any("\u0915" <= c <= "\u0939" or "а" <= c <= "щ" for c in normalize(text))


@given(st.lists(texts, min_size=1, max_size=8), languages)
def test_many_are_one_at_a_time(mentions, language):
    expected = [normalize(mention, "latin", language=language) for mention in mentions]
    assert normalize_many(mentions, "latin", language=language) == expected
    joined = normalize_joined("\n".join(mentions), "latin", language=language)
    assert joined == "\n".join(expected)


def test_every_character_twice_is_once():
    everything = [chr(c) for c in range(0x20000) if c != 0x0A]
    once = normalize_many(everything, "latin")
    assert len(once) == len(everything)
    assert normalize_many(once, "latin") == once
    # What a character becomes does not depend on those that were met before.
    candgen.text.romanize._letters.cache_clear()
    assert normalize_many(everything[::-1], "latin") == once[::-1]


def test_marks_over_latin_letters_go_as_by_default():
    for point in range(0x80, 0x2000):
        folded = normalize(chr(point))
        if folded.isascii() and folded.isalnum():
            assert normalize(chr(point), "latin") == folded


def test_real_names_become_letters_of_ascii(shared_data):
    from candgen import MentionTable

    for language in ("mk", "mr", "ur", "kk", "bn", "gu", "fo"):
        table = MentionTable.read(shared_data / "names" / f"{language}.tsv.gz")
        mentions = [mention for mention, _, _ in table]
        latin = normalize_many(mentions, "latin", language=language)
        assert all(text.isascii() for text in latin)
        assert all(text.strip() for text in latin)


def test_importing_it_imports_neither_anyascii_nor_regex():
    late = "{'anyascii', 'epitran', 'regex'}"
    code = f"import sys, candgen.text.normalize; sys.exit(bool({late} & {{*sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_examples():
    assert doctest.testmod(candgen.text.romanize).failed == 0
