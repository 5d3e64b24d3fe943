"""Korean word forms: particles by final consonant, and verb endings composed from two stems.

A Hangul syllable is 0xAC00 + 588 * initial + 28 * vowel + final, so a final consonant is read and
added by arithmetic on the code point (Unicode, chapter 3.12).
"""

from __future__ import annotations

from dataclasses import dataclass

FINAL_RIEUL, FINAL_BIEUP, FINAL_SSANGSIOT = 8, 17, 20


def final_consonant(word: str) -> int:
    """Index of the last syllable's final consonant; 0 where it ends in a vowel."""
    return (ord(word[-1]) - 0xAC00) % 28


def add_final(word: str, final: int) -> str:
    """`word`, whose last syllable is open, closed with the consonant `final`."""
    return word[:-1] + chr(ord(word[-1]) + final)


def topic(word: str) -> str:
    return word + ("은" if final_consonant(word) else "는")


def subject(word: str) -> str:
    if word == "저":
        return "제가"
    return word + ("이" if final_consonant(word) else "가")


def objective(word: str) -> str:
    return word + ("을" if final_consonant(word) else "를")


def together(word: str) -> str:
    """The noun with the particle for "with" and "and"."""
    return word + ("과" if final_consonant(word) else "와")


def by_means(word: str) -> str:
    """The noun with the particle of means; 로 also follows a final ㄹ."""
    return word + ("로" if final_consonant(word) in (0, FINAL_RIEUL) else "으로")


def copula(word: str, formal: bool) -> str:
    """The noun with "is" after it."""
    if formal:
        return word + "입니다"
    return word + ("이에요" if final_consonant(word) else "예요")


@dataclass(frozen=True)
class Predicate:
    """A verb or an adjective.

    `stem` is used before consonants (먹-), `infinitive` is the -아/어 form (먹어), `soft` is used
    before -ㄹ, -면 and -니까 (먹으-, 추우-, 들으-).
    """

    stem: str
    infinitive: str
    soft: str

    def present(self, formal: bool) -> str:
        if not formal:
            return self.infinitive + "요"
        if final_consonant(self.stem) == 0:
            return add_final(self.stem, FINAL_BIEUP) + "니다"
        if final_consonant(self.stem) == FINAL_RIEUL:
            return self.stem[:-1] + chr(ord(self.stem[-1]) - FINAL_RIEUL + FINAL_BIEUP) + "니다"
        return self.stem + "습니다"

    @property
    def past_stem(self) -> str:
        return add_final(self.infinitive, FINAL_SSANGSIOT)

    def past(self, formal: bool) -> str:
        return self.past_stem + ("습니다" if formal else "어요")

    @property
    def adnominal(self) -> str:
        """The -(으)ㄹ form: "that will"."""
        if final_consonant(self.soft) == FINAL_RIEUL:
            return self.soft
        return add_final(self.soft, FINAL_RIEUL)

    def future(self, formal: bool) -> str:
        return f"{self.adnominal} {'것입니다' if formal else '거예요'}"


NOT = Predicate("않", "않아", "않으")
BE = Predicate("있", "있어", "있으")
DO = Predicate("하", "해", "하")
WANT = Predicate("싶", "싶어", "싶으")


def regular(stem: str, infinitive: str) -> Predicate:
    """A predicate whose soft stem follows from the stem."""
    closed = final_consonant(stem) not in (0, FINAL_RIEUL)
    return Predicate(stem, infinitive, stem + "으" if closed else stem)


def extended(before: str, ending: Predicate) -> Predicate:
    """`ending` used as an auxiliary after `before`: 먹지 + 않다."""
    return Predicate(
        f"{before} {ending.stem}", f"{before} {ending.infinitive}", f"{before} {ending.soft}"
    )
