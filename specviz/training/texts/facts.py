"""Small tables of common knowledge for short questions."""

from __future__ import annotations

_COUNTRY_TABLE = """
France Paris Europe French|Germany Berlin Europe German|Italy Rome Europe Italian
Spain Madrid Europe Spanish|Portugal Lisbon Europe Portuguese|Greece Athens Europe Greek
Norway Oslo Europe Norwegian|Sweden Stockholm Europe Swedish|Finland Helsinki Europe Finnish
Denmark Copenhagen Europe Danish|Poland Warsaw Europe Polish|Austria Vienna Europe German
Hungary Budapest Europe Hungarian|Romania Bucharest Europe Romanian|Ireland Dublin Europe English
Iceland Reykjavik Europe Icelandic|Bulgaria Sofia Europe Bulgarian|Croatia Zagreb Europe Croatian
Latvia Riga Europe Latvian|Lithuania Vilnius Europe Lithuanian|Estonia Tallinn Europe Estonian
Japan Tokyo Asia Japanese|China Beijing Asia Chinese|Thailand Bangkok Asia Thai
Vietnam Hanoi Asia Vietnamese|Mongolia Ulaanbaatar Asia Mongolian|Nepal Kathmandu Asia Nepali
Iran Tehran Asia Persian|Iraq Baghdad Asia Arabic|Jordan Amman Asia Arabic
Turkey Ankara Asia Turkish|Indonesia Jakarta Asia Indonesian|Cambodia Phnom_Penh Asia Khmer
South_Korea Seoul Asia Korean|Bangladesh Dhaka Asia Bengali|Qatar Doha Asia Arabic
Egypt Cairo Africa Arabic|Morocco Rabat Africa Arabic|Tunisia Tunis Africa Arabic
Ghana Accra Africa English|Senegal Dakar Africa Wolof|Angola Luanda Africa Portuguese
Somalia Mogadishu Africa Somali|Ethiopia Addis_Ababa Africa Amharic|Libya Tripoli Africa Arabic
Mali Bamako Africa Bambara|Madagascar Antananarivo Africa Malagasy
Canada Ottawa North_America English|Mexico Mexico_City North_America Spanish
Cuba Havana North_America Spanish|Panama Panama_City North_America Spanish
Honduras Tegucigalpa North_America Spanish|Jamaica Kingston North_America English
Brazil Brasilia South_America Portuguese|Argentina Buenos_Aires South_America Spanish
Chile Santiago South_America Spanish|Colombia Bogota South_America Spanish
Uruguay Montevideo South_America Spanish|Ecuador Quito South_America Spanish
Venezuela Caracas South_America Spanish|Australia Canberra Oceania English
"""


def _country(entry: str) -> tuple[str, tuple[str, str, str]]:
    country, capital, continent, language = (word.replace("_", " ") for word in entry.split())
    return country, (capital, continent, language)


# country: (capital, continent, language most spoken)
COUNTRIES = dict(
    _country(entry) for line in _COUNTRY_TABLE.strip().splitlines() for entry in line.split("|")
)

# In order of atomic number from 1.
ELEMENTS: list[tuple[str, str]] = [
    (pair.split(":")[0], pair.split(":")[1])
    for pair in """
hydrogen:H helium:He lithium:Li beryllium:Be boron:B carbon:C nitrogen:N oxygen:O fluorine:F neon:Ne
sodium:Na magnesium:Mg aluminium:Al silicon:Si phosphorus:P sulfur:S chlorine:Cl argon:Ar
potassium:K calcium:Ca scandium:Sc titanium:Ti vanadium:V chromium:Cr manganese:Mn iron:Fe cobalt:Co
nickel:Ni copper:Cu zinc:Zn gallium:Ga germanium:Ge arsenic:As selenium:Se bromine:Br krypton:Kr
""".split()
]

ANTONYMS: list[tuple[str, str]] = [
    (pair.split(":")[0], pair.split(":")[1])
    for pair in """
hot:cold big:small fast:slow high:low old:young rich:poor heavy:light dark:bright wet:dry full:empty
hard:soft near:far early:late loud:quiet strong:weak thick:thin wide:narrow clean:dirty sharp:blunt
open:closed deep:shallow happy:sad rough:smooth brave:cowardly cheap:expensive sweet:bitter
ancient:modern simple:complex tall:short first:last true:false inside:outside above:below
""".split()
]

# animal: (class, young, number of legs)
ANIMALS: dict[str, tuple[str, str, int]] = {
    "dog": ("mammal", "puppy", 4),
    "cat": ("mammal", "kitten", 4),
    "cow": ("mammal", "calf", 4),
    "horse": ("mammal", "foal", 4),
    "sheep": ("mammal", "lamb", 4),
    "goat": ("mammal", "kid", 4),
    "lion": ("mammal", "cub", 4),
    "bear": ("mammal", "cub", 4),
    "kangaroo": ("mammal", "joey", 2),
    "deer": ("mammal", "fawn", 4),
    "duck": ("bird", "duckling", 2),
    "goose": ("bird", "gosling", 2),
    "eagle": ("bird", "eaglet", 2),
    "owl": ("bird", "owlet", 2),
    "swan": ("bird", "cygnet", 2),
    "chicken": ("bird", "chick", 2),
    "frog": ("amphibian", "tadpole", 4),
    "turtle": ("reptile", "hatchling", 4),
    "crocodile": ("reptile", "hatchling", 4),
    "bee": ("insect", "larva", 6),
    "butterfly": ("insect", "caterpillar", 6),
    "spider": ("arachnid", "spiderling", 8),
}

PLANETS = "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()

# base form: (past, past participle) of irregular English verbs
VERBS: dict[str, tuple[str, str]] = {
    entry.split(":")[0]: (entry.split(":")[1], entry.split(":")[2])
    for entry in """
go:went:gone see:saw:seen take:took:taken write:wrote:written begin:began:begun sing:sang:sung
drink:drank:drunk swim:swam:swum eat:ate:eaten give:gave:given know:knew:known fly:flew:flown
grow:grew:grown throw:threw:thrown draw:drew:drawn break:broke:broken speak:spoke:spoken
choose:chose:chosen freeze:froze:frozen steal:stole:stolen drive:drove:driven ride:rode:ridden
rise:rose:risen bring:brought:brought buy:bought:bought catch:caught:caught teach:taught:taught
think:thought:thought find:found:found hold:held:held keep:kept:kept leave:left:left lose:lost:lost
make:made:made meet:met:met pay:paid:paid say:said:said sell:sold:sold send:sent:sent sit:sat:sat
sleep:slept:slept stand:stood:stood tell:told:told win:won:won wear:wore:worn
forget:forgot:forgotten
""".split()
}

PLURALS: list[tuple[str, str]] = [
    (pair.split(":")[0], pair.split(":")[1])
    for pair in """
child:children foot:feet tooth:teeth mouse:mice goose:geese man:men woman:women leaf:leaves
knife:knives wolf:wolves city:cities box:boxes church:churches potato:potatoes hero:heroes
baby:babies bus:buses shelf:shelves ox:oxen life:lives party:parties dish:dishes crisis:crises
""".split()
]

# (quantity, large unit, small unit, small units in one large unit)
UNITS: list[tuple[str, str, str, int]] = [
    ("length", "kilometres", "metres", 1000),
    ("length", "metres", "centimetres", 100),
    ("length", "centimetres", "millimetres", 10),
    ("mass", "kilograms", "grams", 1000),
    ("mass", "tonnes", "kilograms", 1000),
    ("volume", "litres", "millilitres", 1000),
    ("time", "hours", "minutes", 60),
    ("time", "minutes", "seconds", 60),
    ("time", "days", "hours", 24),
    ("time", "weeks", "days", 7),
    ("time", "years", "months", 12),
    ("money", "dollars", "cents", 100),
    ("length", "feet", "inches", 12),
    ("data", "kilobytes", "bytes", 1000),
]
