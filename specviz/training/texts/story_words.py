"""Words and sentence patterns for stories and poems."""

from __future__ import annotations

CHARACTERS = """
fisherman clockmaker princess shepherd fox dragon librarian painter sailor wolf baker gardener
astronomer robot pirate musician knight tailor lighthouse_keeper bear mapmaker inventor postman
witch giant heron miller nurse juggler beekeeper glassblower detective
""".split()

TRAITS = """
lonely curious brave clumsy old young patient proud forgetful gentle stubborn quiet cheerful
restless honest sleepy clever shy greedy kind
""".split()

SETTINGS = [
    "a village by the sea",
    "a city of glass",
    "the shadow of a dark forest",
    "a valley full of fog",
    "an empty desert",
    "a kingdom of small islands",
    "the heart of a mountain",
    "an abandoned station",
    "a house with too many doors",
    "the last street of the town",
    "a garden behind high walls",
    "a ship that never landed",
    "a tower above the clouds",
    "a market that opens at night",
    "a hut beside a slow river",
]

GOALS = [
    "find a lost key",
    "learn to sing",
    "cross the river",
    "repair a broken clock",
    "write a letter to the moon",
    "wake the sleeping king",
    "plant a tree that never dies",
    "win the yearly race",
    "remember an old song",
    "build a bridge of paper",
    "catch a falling star",
    "return a stolen book",
    "teach the wind to whistle",
    "count all the stars",
    "bake the perfect bread",
    "paint the colour of silence",
    "bring back the rain",
]

OPENINGS = [
    "There once was {a_hero} in {place}.",
    "In {place} lived {a_hero} called {name}.",
    "Nobody in {place} remembered when the {trait} {hero} had arrived.",
    "Long before the roads were built, {a_hero} came to {place}.",
    "It was a {weather} {season} when {name}, {a_hero}, reached {place}.",
    "People in {place} still talk about {name}, the {trait} {hero}.",
    "Everything began with a {thing} and {a_hero} in {place}.",
]
WISHES = [
    "All {name} wanted was to {goal}.",
    "Every {daytime} {name} dreamed of how to {goal}.",
    "{name} had promised a {friend} to {goal}.",
    "One {daytime} {name} decided to {goal}.",
    "A {thing} on the table seemed to say: go and {goal}.",
    "But to {goal} was harder than it looked.",
]
TROUBLES = [
    "The {weather} {season} made the way long.",
    "A {friend} blocked the road and asked for a {thing}.",
    "On the third day the {thing} broke in two.",
    "{name} got lost between the {nature} and the {nature2}.",
    "At {daytime} a {sound} came out of the {nature}.",
    "Nothing helped, neither the {thing} nor the {thing2}.",
    "Someone had hidden the {thing} under the {nature}.",
    "The {nature} was {feeling}, and so was {name}.",
    "A {friend} laughed and said it could not be done.",
    "Then the {nature} began to {motion}.",
]
TURNS = [
    "Then {name} met a {friend} who carried a {thing2}.",
    '"{saying}," said the {friend}.',
    "{name} opened the {thing2} and found a {thing} inside.",
    "With a {thing2} and a little luck the {nature2} let {name} pass.",
    "{name} sat down by the {nature} and listened to the {sound}.",
    "In the {daytime} light the {thing2} looked {feeling}.",
    '"{saying}," {name} whispered to the {nature2}.',
    "Slowly the {nature2} started to {motion}.",
    "The {friend} pointed at the {nature2}, and {name} understood.",
    "For {number} days {name} did nothing but {motion}.",
]
ENDINGS = [
    "Since then {name} keeps a {thing} by the window.",
    "In the end {name} did {goal}, and {place} was never the same.",
    "And that is why the {nature} is {feeling} to this day.",
    "{name} never did {goal}, but nobody minded.",
    "The {friend} stayed, and they were together until {season}.",
    "When {season} came, {name} was {feeling} at last.",
    "Only the {nature} knows how it ended.",
    "{name} laughed, gave the {thing2} away and went home.",
]

SLOTS: dict[str, list[str]] = {
    "weather": "stormy golden silent freezing misty bright windy endless pale rainy".split(),
    "season": "spring summer autumn winter".split(),
    "daytime": "morning evening midnight noon dawn dusk".split(),
    "thing": (
        "lantern ring feather mirror violin compass coin bell ribbon shell book candle kite "
        "needle map drum spoon"
    ).split(),
    "thing2": (
        "box rope letter flute blanket whistle basket crown shoe teapot hammer pearl wheel "
        "ladder telescope jar"
    ).split(),
    "friend": (
        "crow child stranger snail widow soldier cat merchant ghost turtle poet goat monk "
        "sparrow thief queen"
    ).split(),
    "nature": "river forest moon sea mountain wind cloud garden field lake".split(),
    "nature2": "stone tree rain snow sun sand fire night shadow grass".split(),
    "sound": "song whisper cry melody knock laugh hum thunder sigh".split(),
    "feeling": "happy silver silent wild warm golden tired strange free proud".split(),
    "motion": "dance sleep wander sing burn tremble wait shine dream listen".split(),
    "number": "two three five seven nine twelve forty".split(),
    "saying": [
        "Nothing is lost that somebody looks for",
        "Begin where you are",
        "The way back is shorter",
        "You carry it with you",
        "Ask the water, not the stone",
        "A song weighs less than gold",
        "Wait until it is dark",
        "Every door was once a tree",
        "I have forgotten the question",
        "Only the slow ones arrive",
        "Give it away and it is yours",
    ],
}

# Nouns that rhyme with each other.
RHYMES: list[list[str]] = [
    "night light kite knight".split(),
    "sea tree bee key".split(),
    "day bay clay way".split(),
    "moon tune noon spoon".split(),
    "rain train lane grain".split(),
    "snow crow bow show".split(),
    "air hair bear chair".split(),
    "stone bone throne phone".split(),
    "sky eye pie spy".split(),
    "sand hand land band".split(),
    "sleep sheep heap deep".split(),
    "door floor shore store".split(),
    "name flame game frame".split(),
    "rose nose hose prose".split(),
    "boat coat goat note".split(),
    "ring king wing string".split(),
    "house mouse blouse".split(),
    "hill mill bill quill".split(),
]

# A line lacks only its last word, which rhymes.
LINES = [
    "The {nature} keeps a {thing} for the {rhyme}",
    "I heard a {sound} and thought of the {rhyme}",
    "A {friend} was dreaming of the {rhyme}",
    "The {weather} {daytime} smells of the {rhyme}",
    "My {thing2} is waiting for the {rhyme}",
    "And {nature2} and {nature} speak of the {rhyme}",
    "Who gave the {thing} to the {rhyme}",
    "In {season} every road leads to the {rhyme}",
    "The {thing} I carried was behind the {rhyme}",
    "So {motion} beside the {nature2} and the {rhyme}",
    "Nobody asked the {nature} about the {rhyme}",
    "A {feeling} {friend} sang about the {rhyme}",
    "The {nature2} is {feeling}, says the {rhyme}",
    "We {motion} and {motion2} until the {rhyme}",
]
SLOTS["motion2"] = SLOTS["motion"]
