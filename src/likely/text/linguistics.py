"""Short lists of words that say little: articles, pronouns, prepositions, conjunctions, auxiliary verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from likely.arrays import Int32
from likely.errors import SettingsError, listed
from likely.text.documents import Block
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

_LISTS = {
    "en": """
        a about above after again all also am an and any are as at be because been before being below between both but
        by can could did do does doing down during each few for from further had has have having he her here hers
        herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on
        once only or other our ours ourselves out over own same she should so some such than that the their theirs them
        themselves then there these they this those through to too under until up upon us very was we were what when
        where which while who whom why will with would you your yours yourself yourselves
        """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus bei beim
        bin bis bist da dabei damit dann das dass daß dazu dein deine deinem deinen deiner dem den denn der des dessen
        deren dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er
        es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann
        kein keine keinem keinen keiner können könnte man mein meine meinem meinen meiner mich mir mit muss musste nach
        nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche
        solchem solchen solcher soll sollte sondern sonst über um und uns unser unsere unserem unseren unter viel vom
        von vor während war waren warst was weg weil weiter welche welchem welchen welcher welches wenn werde werden wie
        wieder will wir wird wirst wo wollen wollte worden wurde wurden würde würden zu zum zur zwar zwischen
        """,
    "fr": """
        ai aie ainsi alors après as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c ça car ce
        cela celle celles celui ces cet cette ceux chaque chez comme d dans de depuis des donc dont du elle elles en
        encore entre es est et étaient était étant été être eu eux fait faire fut ici il ils j je l la le les leur leurs
        lors lui m ma mais me même mêmes mes moi moins mon n ne ni nos notre nous on ont ou où par parce pas pendant
        peu peut plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son
        sont sous sur t ta tandis te tes toi ton tous tout toute toutes très tu un une vers voici voilà vos votre vous y
        """,
    "es": """
        a al algo algunas algunos alguna alguno ante antes aquel aquella aquellas aquellos aquí así aún aunque cada casi
        como con contra cual cuales cuando cuanto de del desde donde dos durante e el él ella ellas ellos en entre era
        erais eran eras es esa esas ese eso esos esta está estaba estaban estado estamos están estar estas este esto
        estos estoy fue fueron fui ha había habían haber hace hacia han has hasta hay he hemos la las le les lo los más
        me mi mí mis mientras mucho muchos muy nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o os
        otra otras otro otros para pero poco por porque pues que qué quien quienes se sea según ser si sí sido sin sino
        sobre sois somos son soy su sus también tan tanto te tengo ti tiene tienen toda todas todo todos tu tú tus un
        una unas uno unos usted ustedes vosotras vosotros vuestra vuestro y ya yo
        """,
    "vi": """
        anh à ai ấy bạn bằng bị bởi các cả cái càng cần cho chỉ chị chiếc chú chúng chưa có có_thể còn cô con cũng cùng
        của cứ do dù dưới đã đang đây đấy để đến đều đi đó được em gì hay hãy hoặc hơn kể khi không khác là lại lên lúc
        luôn mà mấy mình mỗi một mọi mới muốn nay này nên nếu ngay nghĩa nhau nhé nhiều như nhưng những nó nào nữa ở ông
        phải qua ra rằng rất rồi sau sẽ so sự tại tất theo thì thế thêm tới tôi trên trong trước từ từng và vào vẫn vài
        về vì việc với vừa vậy xuống
        """,
}
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "vi": "vietnamese"}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Our list for a language, by code or English name ("de", "german"); "english" is scikit-learn's own list.

    >>> sorted(stop_words("german") & {"und", "haus"})
    ['und']
    """
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    codes = {name: code for code, name in LANGUAGES.items()}
    code = codes.get(language, language)
    if code not in _LISTS:
        known = [*_LISTS, *LANGUAGES.values()]
        raise SettingsError(f"There are no stop words for {language!r}, only for {listed(known)}; pass your own list.")
    return frozenset(word.replace("_", " ") for word in _LISTS[code].split())


# What is done to words: on the vocabulary, each distinct word once, never on the tokens of a text.

NUMBER = "<number>"
GUESS = "auto"
_SAMPLE_BYTES = 1 << 16

# Codes of the languages for which PyStemmer has a stemmer, under its own names.
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def changed_words(words: Words, tokenizer: Tokenizer) -> tuple[Words, Int32]:
    """The words that remain, and where each word went: −1 if it is left out.

    >>> tokenizer = Tokenizer(numbers=True, stop_words={"the"})
    >>> words, new = changed_words(Words.of(["the", "year", "2004", "1999"]), tokenizer)
    >>> words.to_list(), new.tolist()
    (['year', '<number>'], [-1, 0, 1, 1])
    """
    stopped = Words.of(sorted(tokenizer.stop_words)).find(words) >= 0
    kept = np.flatnonzero(~stopped)
    new = np.full(len(words), -1, dtype=np.int32)
    if not (tokenizer.numbers or tokenizer.reduce):
        new[kept] = np.arange(len(kept), dtype=np.int32)
        return words.take(kept), new
    names = words.take(kept).to_list()
    if tokenizer.reduce:
        names = _reduced(names, tokenizer)
    if tokenizer.numbers:
        names = [NUMBER if name.isdecimal() else name for name in names]
    places: dict[str, int] = {}
    new[kept] = [places.setdefault(name, len(places)) for name in names]
    return Words.of(places), new


def with_language(tokenizer: Tokenizer, blocks: Sequence[Block]) -> Tokenizer:
    """The tokenizer with its language guessed from the texts, if it is to be guessed."""
    return replace(tokenizer, language=guess_language(blocks)) if tokenizer.language == GUESS else tokenizer


def guess_language(blocks: Sequence[Block]) -> str:
    """The code of the language that most of the texts seem to be in (py3langid)."""
    share = _SAMPLE_BYTES // max(len(blocks), 1) + 1
    sample = b"".join(block.data[:share].tobytes() for block in blocks)[:_SAMPLE_BYTES]
    language, _ = _extra("py3langid", "Guessing a language").classify(sample.decode("utf-8", "ignore"))
    return str(language)


def _reduced(names: list[str], tokenizer: Tokenizer) -> list[str]:
    if tokenizer.language is None or tokenizer.language == GUESS:
        raise SettingsError("The language has to be known before words are reduced; see `with_language`.")
    if tokenizer.reduce == "stem":
        return [stem or name for stem, name in zip(_stems(tokenizer.language)(names), names, strict=True)]
    lemmas = _lemmas(tokenizer.language)
    found = [lemmas(name) or name for name in names]
    # German nouns come back with a capital.
    return [lemma.lower() for lemma in found] if tokenizer.lowercase else found


def _stems(language: str) -> Callable[[list[str]], list[str]]:
    stemmer = _extra("Stemmer", "Stemming")
    name = STEMMERS.get(language, language)
    if name not in stemmer.algorithms():
        raise SettingsError(f"There is no stemmer for {language!r}, only for {listed(sorted(STEMMERS))}.")
    stems: Callable[[list[str]], list[str]] = stemmer.Stemmer(name).stemWords
    return stems


def _lemmas(language: str) -> Callable[[str], str]:
    simplemma = _extra("simplemma", "Finding lemmas")
    code = next((code for code, name in STEMMERS.items() if name == language), language)

    def lemma(word: str) -> str:
        return str(simplemma.lemmatize(word, lang=code))

    try:
        lemma("a")
    except ValueError:
        raise SettingsError(f"simplemma has no lemmas for {language!r}; use a stemmer or another language.") from None
    return lemma


def _extra(module: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise SettingsError(f"{purpose} needs {module}: install the extra with `pip install 'likely[text]'`.") from None
