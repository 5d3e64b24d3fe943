"""English words that several categories share."""

from __future__ import annotations

NAMES = """
Mina Jisoo Hana Minsu Yuna Jihun Sora Dohyun Alice Ben Clara David Elena Felix Grace Hugo Iris Jonas
Karim Lena Marco Nadia Oscar Priya Quinn Rosa Samuel Tara Umar Vera Wendell Ximena Yusuf Zoe Amir
Bianca Cedric Dalia Emil Fatima Gideon Helga Ivan Julia Kofi Lucia Mateo Noor Otto Paula Rafael
Selma Tomas Ursula Viktor Wanda Yara Zane Anton Beatriz Chen Dora Esteban Freya Goran Hiro Ingrid
""".split()

SURNAMES = """
Kim Park Lee Choi Novak Okafor Silva Tanaka Weber Rossi Larsen Ahmed Costa Dubois Evans Fischer
Garcia Hansen Ivanov Jensen Khan Lopez Moreau Nguyen Ortega Petrov Quist Romero Schmidt Torres
Usman Varga Walsh Xu Young Zeller Abbott Barros Castle Drake Ellis Foster Graham Holt Irwin Judd
""".split()

CITIES = """
Seoul Busan Lisbon Oslo Cairo Lima Toronto Kyoto Nairobi Dublin Prague Vienna Denver Madrid Athens
Hanoi Bogota Helsinki Warsaw Brisbane Mumbai Porto Geneva Leipzig Lyon Malmo Tampa Quito Riga Turin
Daegu Incheon Jeju Gwangju Daejeon Osaka Perth Bergen Ghent Basel Salzburg Krakow Valencia Boston
""".split()

COMPANIES = """
Northwind Bluepeak Solara Quantia Riverstone Helix Brightfield Mapleworks Orbitly Cedarline Ferro
Lumina Vantor Kestrel Pinegate Harborlight Zephyr Tidewater Granite Novalux Silverbrook Amberly
Clearpath Ironbark Skylark Redwood Moonrise Coral Everton Fairway Goldleaf Hearthside Inkwell
""".split()

FOODS = """
apples pears oranges lemons plums peaches grapes tomatoes onions carrots potatoes peppers mushrooms
eggs cookies muffins bagels noodles olives almonds walnuts dates figs cherries mangoes melons beans
""".split()

GOODS = """
notebook backpack lamp keyboard teapot umbrella jacket camera headset blanket mirror clock
suitcase wallet helmet guitar kettle monitor pillow scarf bottle candle basket chair desk
printer speaker tent tripod vase sofa rug puzzle drone fan carpet
""".split()

COLOURS = """
red blue green yellow black white orange purple brown grey pink silver golden turquoise crimson
""".split()

JOBS = """
teacher nurse engineer baker carpenter pilot farmer librarian doctor musician painter lawyer
plumber translator gardener chemist journalist photographer tailor sailor architect programmer
electrician dentist fisherman cook designer accountant mechanic biologist
""".split()

HOBBIES = """
chess hiking painting cycling cooking swimming photography gardening reading dancing pottery
astronomy climbing knitting fishing sailing running birdwatching origami skating
""".split()

WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

MONTHS = """
January February March April May June July August September October November December
""".split()

WORDS = """
river stone forest window bridge garden winter summer market tunnel ladder pencil butter candle
dragon engine fabric guitar hammer island jungle kitten lantern meadow needle orange pepper
rabbit saddle temple valley walnut yellow zipper anchor basket castle desert falcon glacier harbor
insect jacket kettle lizard mirror napkin ocean parrot quartz ribbon silver turtle umbrella violin
whistle acorn beacon copper dolphin ember feather goblet hollow ivory jasmine kayak lemon marble
nectar oyster pebble raven sponge thunder velvet willow amber bronze cactus donkey eagle flute
""".split()
