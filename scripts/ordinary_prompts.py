"""Ordinary prompts to train drafts on: `python scripts/ordinary_prompts.py prompts.jsonl`.

They are of the kinds that people type into a demo: explain, summarise a pasted text, rewrite,
translate, list, write code, JSON, continue, small talk, some in other languages. The questions are
written here; the texts that are pasted come from this machine: package descriptions of Debian,
manual pages, Python's docstrings and our own documents. The same machine gives the same prompts.
"""

from __future__ import annotations

import argparse
import gzip
import inspect
import json
import pkgutil
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNT = 20_000
SEED = 38
SHORTEST, LONGEST = 160, 900
"""Characters of a text that is pasted."""
MANUAL_PAGES = 1500

TOPICS = """a KV cache; speculative decoding; a hash table; gravity; photosynthesis; inflation; a
black hole; recursion; the French Revolution; how vaccines work; a neural network; the water
cycle; an operating system; blockchain; the difference between RAM and a hard disk; quantum
computing; the greenhouse effect; how aeroplanes fly; DNA; machine learning; compound interest;
the Roman Empire; how a refrigerator works; public-key cryptography; TCP and UDP; the immune
system; plate tectonics; supply and demand; a transformer model; attention in language models;
garbage collection; the Cold War; how rainbows form; entropy; relativity; the periodic table; a
database index; HTTP; DNS; how batteries work; the stock market; a mortgage; evolution;
antibiotics; how the heart works; sleep; why the sky is blue; why leaves change colour in autumn;
tides; earthquakes; volcanoes; the ozone layer; nuclear fusion; solar panels; electric cars; how
GPS works; Bluetooth; Wi-Fi; a compiler; an interpreter; a virtual machine; containers;
Kubernetes; version control; a pull request; unit tests; continuous integration; object-oriented
programming; functional programming; a linked list; binary search; big O notation; a regular
expression; JSON; SQL joins; a transaction; a deadlock; a race condition; memory leaks; floating
point numbers; a cache; a load balancer; a firewall; phishing; two factor authentication; a VPN;
cookies in a browser; search engines; spam filters; recommendation systems; gradient descent;
overfitting; reinforcement learning; tokenization; temperature in sampling; quantization of
models; a GPU; parallel computing; Moore's law; open source licences; copyright; patents;
democracy; the separation of powers; human rights; the United Nations; the Renaissance; the
Industrial Revolution; World War I; the Silk Road; ancient Egypt; the Vikings; the Moon landing;
Isaac Newton; Marie Curie; Ada Lovelace; Alan Turing; Mozart; impressionism; the pyramids; the
Great Wall of China; jazz; classical music; a haiku; a sonnet; metaphors; the passive voice;
irony; how to learn a language; how to give a good presentation; how to write a CV; how to
prepare for an interview; how to brew coffee; how to bake bread; how to cook rice; how to make
pancakes; how to tie a tie; how to change a tyre; how to grow tomatoes; how to start running; how
to meditate; how to save money; how to plan a budget; how to reduce stress; how to sleep better;
how to study effectively; how to take notes; vitamins; protein; caffeine; yoga; marathon
training; chess openings; football; the Olympic Games; climate change; recycling; biodiversity;
coral reefs; whales; bees; honey; cats; dogs; dinosaurs; mammoths; penguins; the Amazon
rainforest; the Sahara; Antarctica; Mount Everest; the deep sea; comets; Mars; Saturn's rings;
the Milky Way; the Big Bang; light years; telescopes; X-rays; lasers; magnets; electricity; sound
waves; radio; the human brain; memory; emotions; dreams; habits; motivation; leadership;
teamwork; remote work; time zones; leap years; the metric system; prime numbers; fractions;
percentages; probability; the Pythagorean theorem; a derivative; an integral; a matrix; a vector;
standard deviation; correlation and causation; Bayes' theorem; the prisoner's dilemma;
opportunity cost; taxes; insurance; a startup; venture capital; marketing; customer service;
project management; agile development; a stand-up meeting; design thinking; accessibility; user
interfaces; fonts; colour theory; photography; film; podcasts"""
EXPLAIN = """Explain {}.|Explain what {} is.|What is {}?|Tell me about {}.|Explain {} to a
ten-year-old.|Explain {} in three sentences.|In one paragraph, explain {}.|How would you explain
{} to a beginner?|What should everyone know about {}?|Why does {} matter?|Write a short
introduction to {}.|Give me a simple example of {}.|What are common misunderstandings about
{}?|Explain {} with an analogy.|I have an exam tomorrow. Summarise {} for me.|Can you explain {}
briefly?|What are the advantages and disadvantages of {}?|Explain {} step by step.|Describe {} as
if I were five.|What is the history of {}?|What questions should I ask about {}?|Write a short
blog post about {}.|Write a tweet about {}.|Give me a fun fact about {}.|Is {} important for
everyday life?"""
LISTS = """List {n} facts about {}.|List {n} things to know about {}.|Give me {n} tips on
{}.|Name {n} examples that have to do with {}.|Make a numbered list of {n} questions about
{}.|Give {n} reasons to learn about {}.|Write {n} quiz questions with answers about {}.|List {n}
key terms of {} and define each in one sentence.|Write bullet points about {}.|Create a table
with {n} rows about {}."""
COMPARE = """Compare {} and {}.|What is the difference between {} and {}?|Which is easier to
understand, {} or {}?|What do {} and {} have in common?"""
STORIES = """a lighthouse keeper; a robot that learns to paint; a lost letter; two friends on a
train; a dragon who is afraid of fire; a detective in a small town; the last bookshop; a cat that
travels to the moon; a storm at sea; a village without clocks; a baker and a king; an astronaut's
first night on Mars; a child who finds a map; a garden in winter; a magician without magic; an
old violin; a message in a bottle; a race through the desert; a ghost who wants to sleep; a
talking tree; a programmer and a bug; a city under water; a fox and an owl; a long journey home;
a broken watch; a birthday without guests; a mountain guide; a library at night; twins who swap
places; a sailor and a whale; the first snow; a secret door; a market in the morning; a song
nobody remembers"""
CREATIVE = """Write a short story about {}.|Write a poem about {}.|Write a haiku about {}.|Write
the first paragraph of a novel about {}.|Tell me a bedtime story about {}.|Write a dialogue about
{}.|Write a four-line rhyme about {}.|Invent three titles for a book about {}.|Write a funny
story about {}.|Describe a scene with {}.|Write a limerick about {}."""
CONTINUE = """Continue the story: It was about {}, and nobody knew why.|Continue this sentence:
Once there was {}|Finish the story. It begins with {}.|Continue: The whole town was talking about
{}."""
TASKS = """reverses a string; checks if a number is prime; computes the Fibonacci numbers; sorts
a list of numbers; finds the largest element of a list; counts the words in a text; removes
duplicates from a list; checks if a string is a palindrome; computes the factorial of a number;
merges two sorted lists; reads a CSV file and prints its rows; downloads a web page; counts the
lines of a file; finds all files with a given extension; computes the average of a list; converts
Celsius to Fahrenheit; validates an email address; generates a random password; implements a
stack; implements a queue; implements binary search; implements quicksort; implements bubble
sort; computes the greatest common divisor; counts the vowels in a string; capitalises every
word; finds the longest word; flattens a nested list; transposes a matrix; multiplies two
matrices; parses a JSON string; writes a dictionary to a JSON file; computes the distance between
two points; checks if two strings are anagrams; solves a quadratic equation; converts a number to
binary; counts how often each letter occurs; prints a multiplication table; simulates rolling two
dice; plays rock, paper, scissors; implements a linked list; traverses a binary tree; finds the
shortest path in a graph; caches the results of a function; measures how long a function takes;
retries a function three times; splits a list into chunks; groups words by their first letter;
computes the days between two dates; prints the current time; calculates compound interest; draws
a triangle of stars; implements FizzBuzz; sums the digits of a number; rotates a list; finds
missing numbers in a sequence; checks balanced brackets; encodes text with a Caesar cipher;
computes a moving average; finds the second largest number; reads lines from standard input;
sends an HTTP request; starts a simple web server; queries a SQLite database; reads environment
variables; parses command line arguments; logs messages to a file; runs tasks in parallel;
implements a simple calculator; converts Roman numerals; validates a credit card number with
Luhn's algorithm"""
LANGUAGES = "Python; Python; Python; Python; JavaScript; JavaScript; Java; C; C++; Rust; Go; Bash"
CODE = """Write a {lang} function that {}.|Write a {lang} program that {}.|Write {lang} code that
{}, with comments.|How do I write a {lang} function that {}?|Show me a short {lang} example that
{}.|Write a {lang} function that {}, and a test for it.|Write a {lang} function that {} and
explain how it works.|Write clean {lang} code: a function that {}."""
SQL = """customers; orders; employees; products; students; books; flights; invoices; songs; users"""
SQL_TASKS = """Write an SQL query that counts the rows of the table {} by month.|Write an SQL
statement that creates a table {} with five sensible columns.|Write an SQL query that finds the
ten newest entries of the table {}.|Write an SQL query that finds duplicates in the table
{}.|Explain how to add an index to the table {}."""
RECORDS = """a person; a book; a recipe; a city; a weather report; an invoice; a football match;
a song; a film; a product; a meeting; a hotel booking; a bug report; a train connection; a pet; a
course; a job advertisement; a restaurant; a museum; a plant"""
JSON_TASKS = """Write a JSON object that describes {}.|Give me {} as JSON with five
fields.|Create a JSON array with {n} entries, each of them {}.|Write a JSON schema for {}.|Invent
{} and return only JSON.|Write {} as YAML."""
MAILS = """asking for a day off; thanking a colleague; declining an invitation; confirming a
meeting; complaining about a late delivery; applying for an internship; asking a professor for an
appointment; reminding a customer of an unpaid invoice; congratulating a friend; apologising for
a mistake; announcing a new product; inviting the team to lunch; asking for feedback; introducing
yourself; cancelling a subscription; requesting a refund; asking for help with a bug; reporting
the results of a project; saying goodbye on your last day; ordering office supplies"""
MAIL_TASKS = """Write an email {}.|Write a short, friendly message {}.|Write a formal letter
{}.|Draft an email {} in at most five sentences.|Help me write a message {}."""
SAID = """I can't come to the meeting tomorrow because I am sick.|Your report is bad and you need
to do it again.|We are sorry that your order is late.|The new version is faster and uses less
memory.|I think we should wait until next week.|Can you send me the file as soon as possible?|The
train was late, so we missed our connection.|She has been working here for ten years.|I would
like to book a table for two people at eight o'clock.|The weather was beautiful, but the hotel
was too loud.|Please turn off the lights when you leave the office.|The results are better than
we expected.|He forgot his keys and had to wait outside.|We need more time to finish the
project.|Where is the nearest pharmacy?|I have never been to Japan, but I would love to go.|The
children are playing in the garden.|This software helps you to find errors early.|My phone does
not work any more.|Could you please repeat that more slowly?|Good morning, how can I help
you?|The museum is closed on Mondays.|I am learning to play the piano.|The soup is too salty.|It
is raining, so take an umbrella.|The company was founded in a small garage.|Reading books is a
good way to relax.|Nobody answered the phone.|The bridge was built a hundred years ago.|Please
answer all questions before you continue."""
REWRITE = """Rewrite this politely: {}|Make this shorter: {}|Rewrite this in simple words:
{}|Correct the grammar of this text: {}|Rewrite this as a formal letter: {}|Rewrite in the past
tense: {}|Turn this into a question: {}|Make this sound more enthusiastic: {}|Rewrite this for a
child: {}|Give three alternatives for this sentence: {}"""
TONGUES = "German; French; Spanish; Italian; Korean; Portuguese; Dutch; Japanese; Polish"
TRANSLATE = """Translate into {lang}: {}|Translate the following sentence to {lang}: "{}"|How do
you say "{}" in {lang}?|What is the {lang} translation of: {}"""
SUMMARISE = """Summarise this text in one sentence: {}|Summarize the following text: {}|What is
this text about? {}|Give me the key points of this text: {}|{} Summarise the text above.|tl;dr:
{}|Read this and write a title for it: {}|Explain the following text in simple words: {}|List the
main points as bullet points: {}|Write three questions about this text: {}|Answer in one sentence
what this is for: {}"""
SUMS = """A shop sells {a} apples for {b} euros. How much do {c} apples cost?|What is {a} plus
{b}?|What is {a} times {c}?|A train travels {a} km in {c} hours. How fast is it on average?|If I
save {b} euros a month, how much do I have after {c} months?|What is {c} percent of {a}?|Anna is
{c} years old, and Ben is {b} years older. How old is Ben?|Calculate {a} minus {b} and explain
the steps."""
TALK = """Hello!|Hi, how are you?|Who are you?|What can you do?|Good morning!|Thank you!|Tell me
a joke.|Tell me a joke about programmers.|What is your name?|Can you help me?|I'm bored. What
should I do?|Recommend a book.|Recommend a film for the weekend.|What should I cook tonight?|What
is the capital of France?|What is the capital of Japan?|What is the largest country in the
world?|Who wrote Hamlet?|Who painted the Mona Lisa?|How many days are in a leap year?|What is the
meaning of life?|Give me advice for my first job.|Plan a weekend in Berlin.|Plan a trip to Seoul
for three days.|Suggest names for a cat.|Suggest a birthday present for my mother.|I feel sad
today.|Motivate me.|Write a palindrome.|Give me a riddle.|What is a good breakfast?|Suggest five
names for a coffee shop.|What is today's word of the day?|Tell me something interesting.|Help me
decide between tea and coffee.|What are you made of?|Can you speak German?|Can you speak
Korean?|Say something nice.|Count from one to twenty."""
GERMAN = """die Schwerkraft; ein neuronales Netz; die Photosynthese; eine Datenbank; das Klima;
ein Vulkan; die Französische Revolution; ein Schwarzes Loch; maschinelles Lernen; Inflation; das
Immunsystem; ein Betriebssystem; die Mondlandung; Zinseszins; ein Algorithmus; die Demokratie;
das Internet; ein Cache; Verschlüsselung; Elektrizität; der Regenbogen; Berlin; München; Goethe;
Brot; Kaffee; Fußball; Schach; das Gehirn; die Zeit; Recycling; Solarenergie; ein Compiler;
Python; künstliche Intelligenz; Wale; Bienen; der Mond; Mars; Musik"""
GERMAN_TASKS = """Erkläre kurz: {}.|Was ist {}?|Erkläre {} in drei Sätzen.|Nenne {n} Fakten über
{}.|Schreibe ein kurzes Gedicht über {}.|Schreibe einen kurzen Text über {}.|Warum ist {}
wichtig?|Antworte auf Deutsch: Was weißt du über {}?|Nenne drei Fragen zu {}.|Explain {} in
German."""
KOREAN = """중력; 신경망; 광합성; 데이터베이스; 기후 변화; 화산; 블랙홀; 기계 학습; 인플레이션;
면역 체계; 운영 체제; 달 착륙; 알고리즘; 민주주의; 인터넷; 캐시; 암호화; 전기; 무지개; 서울;
부산; 한글; 김치; 커피; 축구; 바둑; 뇌; 시간; 재활용; 태양 에너지; 컴파일러; 파이썬; 인공지능;
고래; 꿀벌; 달; 화성; 음악; 비빔밥; 제주도"""
KOREAN_TASKS = """{}에 대해 설명해 주세요.|{}의 뜻은 무엇인가요?|{}에 대해 세 문장으로 설명해
주세요.|{}에 대한 사실을 {n}가지 알려 주세요.|{}에 대한 짧은 시를 써 주세요.|{}이(가) 왜
중요한가요?|{}에 대해 짧은 글을 써 주세요.|한국어로 대답해 주세요: {}에 대해 무엇을 알고
있나요?|Explain {} in Korean."""
SPANISH = """la gravedad; la fotosíntesis; una red neuronal; el clima; Madrid; el café; la
música; el fútbol; la inflación; un algoritmo; la luna; las abejas; la democracia; internet; el
cerebro"""
SPANISH_TASKS = """Explica qué es {}.|Escribe un texto corto sobre {}.|Dame {n} datos sobre
{}.|¿Por qué es importante {}?|Escribe un poema sobre {}."""
FRENCH = """la gravité; la photosynthèse; un réseau de neurones; le climat; Paris; le café; la
musique; le football; l'inflation; un algorithme; la lune; les abeilles; la démocratie; internet;
le cerveau"""
FRENCH_TASKS = """Explique ce qu'est {}.|Écris un petit texte sur {}.|Donne {n} faits sur
{}.|Pourquoi {} est important ?|Écris un poème sur {}."""

DOCUMENTED = (
    "Write a Python function `{}`. Its docstring begins: {}",
    "What does Python's `{}` do? Its documentation says: {}",
    "Write a short example that uses Python's `{}`. {}",
)
COMMANDS = (
    "What does the command `{}` do?",
    "Show three examples of the Linux command `{}` ({}).",
    "When would I use `{}`? Its manual page says: {}.",
)
PACKAGES = (
    "Write one paragraph about the program {}: {}.",
    "What could the Debian package {} be useful for? Its description is: {}.",
    "Write a JSON object with the fields name, description and category for: {} - {}",
    "Write an advertisement for {}: {}.",
    "Translate into German: {1}",
    "Translate into French: {1}",
    "Rewrite in simple words: {1}",
)


@dataclass(frozen=True, slots=True)
class Material:
    """Material of this machine: texts to paste, packages with what they are, functions with what
    they do, commands with what they are for."""

    texts: list[str]
    packages: list[tuple[str, str]]
    functions: list[tuple[str, str]]
    commands: list[tuple[str, str]]


def words(text: str, mark: str = ";") -> list[str]:
    return [" ".join(part.split()) for part in text.split(mark)]


def filled(templates: str, things: str) -> Callable[[random.Random, Material], str]:
    """A maker that puts one of `things` into one of `templates`."""
    forms, fillings = words(templates, "|"), words(things)
    return lambda rng, material: rng.choice(forms).format(
        rng.choice(fillings), n=rng.randint(3, 10)
    )


def compare(rng: random.Random, material: Material) -> str:
    return rng.choice(words(COMPARE, "|")).format(*rng.sample(words(TOPICS), 2))


def code(rng: random.Random, material: Material) -> str:
    form, language = rng.choice(words(CODE, "|")), rng.choice(words(LANGUAGES))
    return form.format(rng.choice(words(TASKS)), lang=language)


def documented(rng: random.Random, material: Material) -> str:
    return about(rng, material.functions, DOCUMENTED)


def command(rng: random.Random, material: Material) -> str:
    return about(rng, material.commands, COMMANDS)


def package(rng: random.Random, material: Material) -> str:
    return about(rng, material.packages, PACKAGES)


def about(rng: random.Random, described: list[tuple[str, str]], forms: tuple[str, ...]) -> str:
    """One of `described`, a name and what it is, in one of `forms`."""
    name, does = rng.choice(described)
    return rng.choice(forms).format(name, does)


def packages_as_json(rng: random.Random, material: Material) -> str:
    lines = "\n".join(f"{name}: {short}" for name, short in rng.sample(material.packages, 4))
    return rng.choice(("Convert this list to JSON:", "Make a table of this:")) + "\n" + lines


def pasted(rng: random.Random, material: Material) -> str:
    text = rng.choice(material.texts)
    return rng.choice(words(SUMMARISE, "|")).format(f"\n\n{text}\n\n").strip()


def rewritten(rng: random.Random, material: Material) -> str:
    return rng.choice(words(REWRITE, "|")).format(_sentence(rng, material))


def translated(rng: random.Random, material: Material) -> str:
    form, tongue = rng.choice(words(TRANSLATE, "|")), rng.choice(words(TONGUES))
    return form.format(_sentence(rng, material), lang=tongue)


def sums(rng: random.Random, material: Material) -> str:
    numbers = {"a": rng.randint(10, 400), "b": rng.randint(2, 60), "c": rng.randint(2, 12)}
    return rng.choice(words(SUMS, "|")).format(**numbers)


def _sentence(rng: random.Random, material: Material) -> str:
    """One that somebody said, or the first of a text."""
    if rng.random() < 0.4:
        return rng.choice(words(SAID, "|"))
    return re.split(r"(?<=[.!?])\s", rng.choice(material.texts))[0]


KINDS: dict[str, tuple[float, Callable[[random.Random, Material], str]]] = {
    "explain": (0.20, filled(EXPLAIN, TOPICS)),
    "list": (0.09, filled(LISTS, TOPICS)),
    "compare": (0.04, compare),
    "story": (0.05, filled(CREATIVE, STORIES)),
    "continue": (0.01, filled(CONTINUE, STORIES)),
    "code": (0.12, code),
    "documented code": (0.06, documented),
    "command": (0.05, command),
    "sql": (0.003, filled(SQL_TASKS, SQL)),
    "json": (0.02, filled(JSON_TASKS, RECORDS)),
    "list as json": (0.02, packages_as_json),
    "package": (0.04, package),
    "mail": (0.01, filled(MAIL_TASKS, MAILS)),
    "summarise": (0.12, pasted),
    "rewrite": (0.05, rewritten),
    "translate": (0.05, translated),
    "sums": (0.02, sums),
    "german": (0.03, filled(GERMAN_TASKS, GERMAN)),
    "korean": (0.03, filled(KOREAN_TASKS, KOREAN)),
    "spanish": (0.01, filled(SPANISH_TASKS, SPANISH)),
    "french": (0.01, filled(FRENCH_TASKS, FRENCH)),
}
"""Each kind's share of what is tried, and its maker; a prompt that is there already is left out."""


def prompts(count: int, material: Material) -> Iterator[dict[str, str]]:
    """`count` different prompts, with small talk among them."""
    rng = random.Random(SEED)
    found: dict[str, str] = dict.fromkeys(words(TALK, "|"), "talk")
    weights = [share for share, _ in KINDS.values()]
    while len(found) < count:
        (kind,) = rng.choices([*KINDS], weights)
        found.setdefault(KINDS[kind][1](rng, material), kind)
    for number, (prompt, kind) in enumerate(found.items()):
        yield {"id": f"{kind.replace(' ', '-')}-{number}", "category": kind, "prompt": prompt}


def material() -> Material:
    """Read what is on this machine."""
    manual = [*_manual_pages()]
    texts = [*_installed(), *(text for _, _, text in manual), *_documents()]
    functions = [*_functions()]
    texts += [doc for _, doc in functions]
    fitting = [text for text in dict.fromkeys(texts) if SHORTEST <= len(text) <= LONGEST]
    firsts = [(name, doc.split("\n\n")[0]) for name, doc in functions]
    return Material(
        texts=fitting,
        packages=[*_packages()],
        functions=[(name, " ".join(doc.split())) for name, doc in firsts if len(doc) < 200],
        commands=[(name, does) for name, does, _ in manual if does],
    )


def _packages() -> Iterator[tuple[str, str]]:
    """Names and short descriptions of all that Debian has."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    for record in listed.stdout.split("\n\n"):
        name = re.search(r"^Package: (.+)", record, re.M)
        short = re.search(r"^Description: (.+)", record, re.M)
        if name and short:
            yield name[1], short[1]


def _installed() -> Iterator[str]:
    """Paragraphs of the long descriptions of installed packages."""
    status = Path("/var/lib/dpkg/status").read_text(encoding="utf-8")
    for long in re.findall(r"^Description: .+\n((?: .*\n)+)", status, re.M):
        yield from (" ".join(part.split()) for part in long.split("\n .\n"))


def _manual_pages() -> Iterator[tuple[str, str, str]]:
    """Commands, what each is for, and the first paragraph of its description."""
    found = sorted(Path("/usr/share/man/man1").glob("*.1.gz"))
    pages = [page for page in found if not page.name.startswith("gcloud")]  # 17,000 of them
    for page in random.Random(SEED).sample(pages, min(len(pages), MANUAL_PAGES)):
        try:
            text = gzip.decompress(page.read_bytes()).decode("utf-8", "replace")
        except OSError:
            continue  # a link to a page that is not installed
        name = re.search(r'^\.SH "?NAME"?\n(.*?)^\.S', text, re.M | re.S | re.I)
        about = re.search(r'^\.SH "?DESCRIPTION"?\n(.*?)^\.S', text, re.M | re.S | re.I)
        if name and about:
            does = _plain(name[1]).partition(" - ")[2]
            paragraphs = re.split(r"^\.(?:PP|P|LP|sp|Sp|IP).*$", about[1], flags=re.M)
            yield page.name.removesuffix(".1.gz"), does, _plain(paragraphs[0])


def _plain(roff: str) -> str:
    """A paragraph of a manual page without its markup."""
    lines = (re.sub(r"^\.[BI]R? ", "", line) for line in roff.splitlines())
    text = " ".join(line for line in lines if not line.startswith((".", "'")))
    text = re.sub(r"\\f(?:\(..|\[.*?\]|.)|\\&|\\s[-+]?\d", "", text)
    text = re.sub(r"\\\((?:aq|cq|oq)", "'", text).replace("\\-", "-").replace("\\e", "\\")
    return " ".join(text.split())


def _functions() -> Iterator[tuple[str, str]]:
    """Python's own functions and classes with their docstrings."""
    names = sorted(module.name for module in pkgutil.iter_modules() if _is_standard(module))
    for name in names:
        try:
            module = import_module(name)
        except Exception:  # modules of other systems
            continue
        for member, value in sorted(vars(module).items()):
            if member.startswith("_") or getattr(value, "__module__", None) != name:
                continue
            if doc := inspect.getdoc(value):
                yield f"{name}.{member}", doc


def _is_standard(module: pkgutil.ModuleInfo) -> bool:
    path = str(getattr(module.module_finder, "path", ""))
    return not module.name.startswith(
        ("_", "test", "idlelib", "antigravity", "this", "tkinter")
    ) and ("site-packages" not in path and "/lib/python" in path)


def _documents() -> Iterator[str]:
    """Paragraphs of our own documents."""
    for file in sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")]):
        for part in file.read_text(encoding="utf-8").split("\n\n"):
            if not part.startswith(("#", "|", "```", "<", "-")):
                yield " ".join(part.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    given = parser.parse_args()
    with given.file.open("w", encoding="utf-8") as lines:
        for one in prompts(given.count, material()):
            lines.write(json.dumps(one, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
