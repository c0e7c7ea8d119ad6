"""Lists of word elements, of which names are made."""


def elements(text: str) -> list[str]:
    """Split a list of word elements."""
    return text.split()


def phrases(text: str) -> list[str]:
    """Split a list of phrases of several words."""
    return [phrase.strip() for phrase in text.split("|")]


GIVEN_NAMES = elements("""
hans peter karl johann friedrich wilhelm heinrich georg franz josef otto paul ernst hermann walter
robert max werner richard kurt rudolf alfred ludwig thomas michael andreas martin stefan wolfgang
klaus john william james david george charles henry jean pierre louis carl anna maria elisabeth
johanna margarete sophie christina barbara helga ursula monika julia eva gerda ingrid lars erik
nils jan willem pieter ivan wladimir sergei pavel marek luca giovanni carlos juan antonio
""")
SURNAME_STEMS = elements("""
mull schmid schneid fisch web mei wagn beck schulz hof koch richt klein wolf schrod neu schwarz
zimmer kru hart lang werner krau leh walt kais fuchs peter scholz mol weis jung hahn vogel fried
kell gun frank berg wink loren ba roth simon lud bohm schum kraft stein jag brand sei haus busch
hans johan anders niels karl svens jakob lind berg nov horv kowal petr iwan smir
""")
SURNAME_ENDINGS = elements("""
er mann ler sen son ke el ing ert ner hardt berg stein meyer bauer hofer inger ski ova ov ic ek
strom ens s hauser felder i
""")
PLACE_STEMS = elements("""
neu alt ober nieder unter gross klein wald stein eich buch birk erl lind rosen schon hohen lang
breiten weiss schwarz roten grun konigs kaisers bischofs monchs franken sachsen fried karls
ludwigs wilhelms heinrichs johannis georgen marien peters michels hirsch wolfs baren fuchs adler
wein korn salz eisen silber gold mittel sankt hinter vorder west ost nord sud
""")
PLACE_ENDINGS = elements("""
dorf heim bach berg hausen feld stadt burg hofen ingen kirchen au furt brunn see rode ow itz leben
weiler stein tal wald bruck born ach stetten hagen reuth stedt um sund by torp holm wik
""")
PLACE_PREFIXES = elements("bad sankt neu alt gross klein ober unter markt sao san santa saint new")
RIVERS = phrases("an der | am | im | bei | ob der | auf dem")
REGIONS = elements("""
bayern hessen sachsen thuringen oberbayern tirol steiermark bern zurich holstein brandenburg
niedersachsen rheinland-pfalz schleswig wurttemberg baden texas ohio ontario oberosterreich
karnten graubunden mecklenburg westfalen ostpreussen schlesien pommern bohmen mahren kreis
""")
OCCUPATIONS = elements("""
politiker fussballspieler maler schauspieler schriftsteller komponist historiker jurist architekt
mediziner bischof sanger musiker physiker theologe offizier journalist regisseur bildhauer
""")
WORK_KINDS = elements("""
film album lied roman band oper zeitschrift fernsehserie computerspiel buch 1987 kurzfilm comic
""")
ORGANISATION_KINDS = phrases("""
fc | sv | tsv | universitat | verlag | bundesamt fur | institut fur | verein fur |
gesellschaft fur | museum | bistum | theater | stiftung | partei der | verband der |
ministerium fur | orden der | schule
""")
EVENT_KINDS = phrases("""
schlacht bei | landtagswahl in | liste der kulturdenkmale in | landkreis | bahnhof | kreis |
schloss | kirche in | vertrag von | amt | flughafen | bahnstrecke | belagerung von | kanton |
meisterschaft in
""")
NOUNS = elements("""
krieg haus land geschichte recht stadt welt zeit leben tod nacht tag mann frau kind liebe gott licht
wasser feuer stein wald berg fluss meer insel strasse brucke turm kirche kloster burg schule sprache
musik lied tanz spiel sport ball verein bund rat staat volk konig kaiser furst herzog graf bischof
papst orden kunst bild film buch wort schrift zahl raum kraft stoff gas metall eisen gold silber
tier pflanze baum blume vogel fisch pferd hund wolf bar auto bahn schiff flugzeug motor maschine
world love night house river king city black time music game story life american national company
""")
FIELDS = elements("technik biologie recht medizin musik physik begriffsklarung chemie recht sport")
WORD_ENDINGS = elements(
    "ung heit keit schaft er en e ismus ion tat lehre ling chen wesen werk kunst"
)
ADJECTIVE_ENDINGS = elements("ische ischer isches liche licher ige iger e er es")
EPITHET_ENDINGS = elements("us a um is ensis ata atus ii ica icus oides ella alis")
CONTEXTS = phrases("""
stadt | gemeinde | der | die | das | in | alte | sankt | konigreich | haus | neue | graf von |
familie
""")
SUFFIXES = elements("er -kultur ische en ern n es ens -gruppe 's er")

# How a related language, or another hand, spells the same sound.
SPELLINGS = elements("""
k:c c:k v:w w:v z:s s:z ss:s s:ss t:th th:t f:ph ph:f i:y y:i ei:ai ie:i a:ae u:ue o:oe ae:a
ck:k tz:z x:ks qu:kv b:p d:t g:k m:mm n:nn l:ll ll:l nn:n sch:sh j:i dt:t
""")
ENDINGS = elements("en:um um:en e:a a:e er:ar us: en: e: stadt:stad heim:hem berg:bjerg burg:borg")
