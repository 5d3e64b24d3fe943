"""Words in Korean and English for the translation category."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.training.texts.korean import Predicate, regular


@dataclass(frozen=True)
class Verb:
    """A verb in both languages; the English forms are base, third person, past and -ing."""

    korean: Predicate
    english: tuple[str, str, str, str]


def _pairs(text: str) -> list[tuple[str, str]]:
    """`한국어=English` entries, an underscore standing for a space."""
    entries = (entry.split("=") for entry in text.split())
    return [(ko.replace("_", " "), en.replace("_", " ")) for ko, en in entries]


def _verb(stem: str, infinitive: str, english: str, soft: str = "") -> Verb:
    base, third, past, ing = english.split()
    korean = Predicate(stem, infinitive, soft) if soft else regular(stem, infinitive)
    return Verb(korean, (base, third, past, ing))


PEOPLE = _pairs("""
민수=Minsu 지은=Jieun 수진=Sujin 현우=Hyunwoo 유나=Yuna 철수=Cheolsu 영희=Younghee 서연=Seoyeon
도윤=Doyun 하은=Haeun 준호=Junho 미나=Mina 태민=Taemin 소라=Sora 지훈=Jihun 은주=Eunju
선생님=the_teacher 의사=the_doctor 학생=the_student 제_친구=my_friend 제_동생=my_younger_sibling
할머니=grandmother 할아버지=grandfather 어머니=my_mother 아버지=my_father 이웃=the_neighbor
요리사=the_cook 기자=the_reporter 손님=the_guest 가수=the_singer 농부=the_farmer 작가=the_writer
""")

TIMES_PAST = _pairs("""
어제=yesterday 지난주에=last_week 지난달에=last_month 작년에=last_year 어젯밤에=last_night
그저께=the_day_before_yesterday 오늘_아침에=this_morning 지난_주말에=last_weekend
어제_저녁에=yesterday_evening 지난_여름에=last_summer 두_시간_전에=two_hours_ago
""")
TIMES_PRESENT = _pairs("""
매일=every_day 매주=every_week 자주=often 가끔=sometimes 지금=now 요즘=these_days
아침마다=every_morning 저녁마다=every_evening 주말마다=every_weekend 월요일마다=every_Monday
""")
TIMES_FUTURE = _pairs("""
내일=tomorrow 다음_주에=next_week 다음_달에=next_month 내년에=next_year 오늘_밤에=tonight
모레=the_day_after_tomorrow 이번_주말에=this_weekend 금요일에=on_Friday 내일_아침에=tomorrow_morning
다음_여름에=next_summer 한_시간_후에=in_an_hour
""")

PLACES = _pairs("""
학교=school 집=home 도서관=the_library 공원=the_park 식당=the_restaurant 카페=the_café
시장=the_market 회사=the_office 병원=the_hospital 은행=the_bank 서점=the_bookstore
바다=the_sea 산=the_mountain 호텔=the_hotel 공항=the_airport 기차역=the_train_station
박물관=the_museum 극장=the_theater 부엌=the_kitchen 정원=the_garden 우체국=the_post_office
약국=the_pharmacy 서울=Seoul 부산=Busan 제주도=Jeju_Island
대학교=the_university 수영장=the_swimming_pool 동물원=the_zoo
""")
PLACES_WITH_IN = {"the park", "the kitchen", "the garden", "Seoul", "Busan"}
PLACES_WITH_ON = {"the mountain", "Jeju Island"}
DESTINATIONS = [place for place in PLACES if place[1] not in ("the kitchen", "the garden")]

ADJECTIVE_MODIFIERS = _pairs("""
큰=big 작은=small 새로운=new 오래된=old 빨간=red 파란=blue 하얀=white 예쁜=pretty 비싼=expensive
싼=cheap 좋은=good 재미있는=interesting 이상한=strange 무거운=heavy 가벼운=light 유명한=famous
아름다운=beautiful 따뜻한=warm 깨끗한=clean 노란=yellow 긴=long 짧은=short 특별한=special
""")

THINGS = _pairs("""
책=book 신문=newspaper 편지=letter 사진=photo 그림=picture 가방=bag 의자=chair 모자=hat 컵=cup
시계=clock 우산=umbrella 자전거=bicycle 자동차=car 카메라=camera 컴퓨터=computer 선물=present
꽃=flower 셔츠=shirt 신발=shoe 열쇠=key 지도=map 노트=notebook 상자=box 책상=desk 공=ball 접시=plate
""")
FOODS = _pairs("""
사과=an_apple 빵=bread 밥=rice 국수=noodles 김치=kimchi 생선=fish 고기=meat 케이크=cake
수박=watermelon 바나나=a_banana 샐러드=salad 비빔밥=bibimbap 라면=ramen 딸기=strawberries
치즈=cheese 만두=dumplings
""")
DRINKS = _pairs("커피=coffee 물=water 우유=milk 차=tea 주스=juice 맥주=beer 콜라=cola 와인=wine")
READINGS = _pairs("""
책=a_book 신문=the_newspaper 소설=a_novel 시=a_poem 편지=a_letter 잡지=a_magazine 기사=an_article
보고서=a_report 일기=a_diary 이메일=an_email
""")
SHOWS = _pairs("""
영화=a_movie 드라마=a_drama 뉴스=the_news 경기=the_game 연극=a_play 만화=a_cartoon
""")
STUDIES = _pairs("""
한국어=Korean 영어=English 수학=math 역사=history 음악=music 과학=science 경제=economics
일본어=Japanese
""")
VEHICLES = _pairs("버스=bus 지하철=subway 기차=train 택시=taxi 자전거=bicycle 비행기=plane 배=ship")

READ = _verb("읽", "읽어", "read reads read reading")
WRITE = _verb("쓰", "써", "write writes wrote writing")
EAT = _verb("먹", "먹어", "eat eats ate eating")
DRINK = _verb("마시", "마셔", "drink drinks drank drinking")
COOK = _verb("만들", "만들어", "make makes made making")
BUY = _verb("사", "사", "buy buys bought buying")
SELL = _verb("팔", "팔아", "sell sells sold selling")
WATCH = _verb("보", "봐", "watch watches watched watching")
STUDY = _verb("공부하", "공부해", "study studies studied studying")
TEACH = _verb("가르치", "가르쳐", "teach teaches taught teaching")
LEARN = _verb("배우", "배워", "learn learns learned learning")
FIND = _verb("찾", "찾아", "find finds found finding")
LOSE = _verb("잃어버리", "잃어버려", "lose loses lost losing")
DRAW = _verb("그리", "그려", "draw draws drew drawing")
CLEAN = _verb("닦", "닦아", "clean cleans cleaned cleaning")
GO = _verb("가", "가", "go goes went going")
GIVE = _verb("주", "줘", "give gives gave giving")
SEND = _verb("보내", "보내", "send sends sent sending")
SHOW = _verb("보여주", "보여줘", "show shows showed showing")
MEET = _verb("만나", "만나", "meet meets met meeting")
HELP = _verb("돕", "도와", "help helps helped helping", soft="도우")
INVITE = _verb("초대하", "초대해", "invite invites invited inviting")
SLEEP = _verb("자", "자", "sleep sleeps slept sleeping")
WORK = _verb("일하", "일해", "work works worked working")
SWIM = _verb("수영하", "수영해", "swim swims swam swimming")
SING = _verb("노래하", "노래해", "sing sings sang singing")
DANCE = _verb("춤추", "춤춰", "dance dances danced dancing")
REST = _verb("쉬", "쉬어", "rest rests rested resting")
WALK = _verb("걷", "걸어", "walk walks walked walking", soft="걸으")
CRY = _verb("울", "울어", "cry cries cried crying")
LAUGH = _verb("웃", "웃어", "laugh laughs laughed laughing")
RUN = _verb("뛰", "뛰어", "run runs ran running")

# Verbs with what they act on.
ACTIONS: list[tuple[Verb, list[tuple[str, str]]]] = [
    (READ, READINGS), (WRITE, READINGS[2:]), (EAT, FOODS), (DRINK, DRINKS), (COOK, FOODS[1:]),
    (WATCH, SHOWS), (STUDY, STUDIES), (TEACH, STUDIES), (LEARN, STUDIES), (BUY, FOODS),
    (BUY, DRINKS), (SELL, FOODS),
]  # fmt: skip
THING_ACTIONS = [BUY, SELL, FIND, LOSE, DRAW, CLEAN]
PLAIN_ACTIONS = [SLEEP, WORK, SWIM, SING, DANCE, REST, WALK, CRY, LAUGH, RUN]
TRANSFERS = [GIVE, SEND, SHOW]

# What can be said about the weather, a person or a thing.
DESCRIPTIONS: list[tuple[Predicate, str]] = [
    (Predicate("춥", "추워", "추우"), "cold"),
    (Predicate("덥", "더워", "더우"), "hot"),
    (regular("좋", "좋아"), "good"),
    (regular("나쁘", "나빠"), "bad"),
    (regular("따뜻하", "따뜻해"), "warm"),
    (regular("흐리", "흐려"), "cloudy"),
    (regular("맑", "맑아"), "clear"),
]
FEELINGS: list[tuple[Predicate, str]] = [
    (regular("바쁘", "바빠"), "busy"),
    (regular("피곤하", "피곤해"), "tired"),
    (regular("행복하", "행복해"), "happy"),
    (regular("슬프", "슬퍼"), "sad"),
    (regular("배고프", "배고파"), "hungry"),
    (regular("아프", "아파"), "sick"),
    (regular("친절하", "친절해"), "kind"),
    (regular("조용하", "조용해"), "quiet"),
]
QUALITIES: list[tuple[Predicate, str]] = [
    (regular("크", "커"), "big"),
    (regular("작", "작아"), "small"),
    (regular("비싸", "비싸"), "expensive"),
    (Predicate("무겁", "무거워", "무거우"), "heavy"),
    (Predicate("가볍", "가벼워", "가벼우"), "light"),
    (Predicate("아름답", "아름다워", "아름다우"), "beautiful"),
    (regular("재미있", "재미있어"), "interesting"),
    (regular("깨끗하", "깨끗해"), "clean"),
    (regular("유명하", "유명해"), "famous"),
]

# Counted nouns with their counter: (Korean, counter, English singular, English plural)
COUNTED: list[tuple[str, str, str, str]] = [
    ("사과", "개", "apple", "apples"),
    ("책", "권", "book", "books"),
    ("학생", "명", "student", "students"),
    ("커피", "잔", "cup of coffee", "cups of coffee"),
    ("고양이", "마리", "cat", "cats"),
    ("표", "장", "ticket", "tickets"),
    ("물", "병", "bottle of water", "bottles of water"),
    ("자동차", "대", "car", "cars"),
    ("의자", "개", "chair", "chairs"),
    ("새", "마리", "bird", "birds"),
    ("종이", "장", "sheet of paper", "sheets of paper"),
    ("공책", "권", "notebook", "notebooks"),
]
NUMERALS = _pairs("""
한=one 두=two 세=three 네=four 다섯=five 여섯=six 일곱=seven 여덟=eight 아홉=nine 열=ten
열한=eleven 열두=twelve 스무=twenty 서른=thirty
""")
