"""Tagged walking instructions, made from a small grammar.

English treebanks hold few commands, so a tagger trained on them alone takes "Head", "Exit" or "Face" at the
start of a sentence for a noun. The sentences made here show each verb of motion as a command, and beside
them the same words where they are nouns ("the exit"), so that the tagger learns to tell the two apart.
Tags follow Universal Dependencies English EWT ("on your left" is a noun, "turn left" an adverb).

Notation: `word/TAG` is a token, `<NAME>` a choice from GRAMMAR, `~` joins two tokens without a space.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A word with its universal part of speech, and whether a space follows it."""

    text: str
    pos: str
    space: bool


def _tagged(words: str, tag: str) -> list[str]:
    return [f"{word}/{tag}" for word in words.split()]


def _compounds(names: str) -> list[str]:
    return [" ".join(_tagged(name, "NOUN")) for name in names.split(",")]


# Every verb of motion, by what may follow it. A verb stands in each group whose pattern it takes.
_ROAM = """walk go head move proceed continue travel step advance run hurry march stroll wander wind cut
    journey amble stride saunter pace trek jog dash rush crawl hike hop leap jump climb come get pass
    navigate drift slide sneak squeeze drive ride venture return retreat backtrack press push carry
    start begin exit leave enter cross descend ascend slip duck weave crouch float progress roll tiptoe"""
_REACH = """exit enter leave pass cross climb descend ascend approach follow bypass circle skirt traverse
    round clear access reach find locate spot open close face mount scale hug ignore avoid use choose
    navigate board vault jump skip trace walk travel target notice mind view watch check note pursue
    see depart near flank parallel straddle hit vacate overlook push pull explore touch grab"""
_TURN = """turn veer bear pivot rotate swing angle curve hook spin swerve bank curl loop cut edge lean
    shift face swivel slant wheel twist peel break jog slide go head walk move step look point arc round
    bend steer sway drift switch tilt swoop circle branch exit keep stay double divert sidestep"""
_REST = """stop wait stand stay remain pause halt rest park sit finish end linger hold land settle kneel
    lie arrive stall cease conclude camp freeze relax crouch squat terminate hover idle"""
_ALONE = """exit enter leave pass turn pivot continue proceed advance stop wait pause halt rotate veer start
    begin head walk go move cross climb descend ascend follow reverse step face return finish approach"""
_CARRY_ON = "keep continue start begin finish stop resume try commence"
_PLACE = "position orient place put align point square angle turn rotate center centre set situate reorient"
_MAKE = "make take do hang perform execute complete pull"
_PARTICIPLE = """walking going heading moving proceeding continuing traveling passing facing turning leaving
    exiting entering following keeping looking standing climbing descending crossing stepping veering"""

GRAMMAR: dict[str, list[str]] = {
    "ROAM": _tagged(_ROAM, "VERB"),
    "REACH": _tagged(_REACH, "VERB"),
    "TURN": _tagged(_TURN, "VERB"),
    "REST": _tagged(_REST, "VERB"),
    "ALONE": _tagged(_ALONE, "VERB"),
    "CARRY": _tagged(_CARRY_ON, "VERB"),
    "PLACE": _tagged(_PLACE, "VERB"),
    "MAKE": _tagged(_MAKE, "VERB"),
    "ING": _tagged(_PARTICIPLE, "VERB"),
    "THING": [
        *_tagged(
            """stairs staircase steps stairway stairwell door doors doorway doorways hallway hall corridor
            kitchen bedroom bathroom closet office lounge lobby foyer garage balcony patio deck porch pool
            table tables chair chairs couch couches sofa sofas bed beds desk dresser cabinet cabinets shelf
            shelves bookshelf fireplace rug rugs carpet mat lamp lamps plant plants vase mirror painting
            paintings picture pictures window windows curtain curtains wall walls railing banister column
            columns pillar pillars arch archway entrance entry entryway exit landing ledge island counter
            bar sink toilet tub bathtub shower stove oven fridge refrigerator dishwasher microwave piano
            television tv treadmill bench benches stool stools ottoman armchair statue sculpture chandelier
            elevator gate fence path walkway walk driveway room rooms area house building floor ceiling
            basement attic den library studio nook alcove corner opening threshold partition divider screen
            trash towel towels basket clock phone boxes altar pews pew stage exit exits turn head stop rest
            face step park bank landing cars bicycle umbrella hedge grass lawn tree trees bushes
            loveseat nightstand wardrobe headboard footboard crib cradle bookcase books sconces drapes
            blinds washer dryer mantel tapestry rail handrail stand""",
            "NOUN",
        ),
        *_compounds(
            """dining room, living room, laundry room, family room, sitting room, bath room, coffee table,
            pool table, dining table, kitchen island, kitchen counter, front door, glass door, glass doors,
            wood floor, marble floor, leather chairs, brick wall, stone wall, metal railing, fire place,
            tv stand, water fountain, water cooler, ceiling fan, picture frame, door frame, patio furniture,
            rock wall, exercise equipment, massage table, exit sign, stop sign, wine rack, bar stools,
            tile floor, bath tub, ping pong table, guest room, utility room, conference room, locker room,
            wash basin, stair case"""
        ),
        "walk/NOUN~-/PUNCT~in/ADP closet/NOUN",
        "hot/ADJ tub/NOUN",
        "double/ADJ doors/NOUN",
        "french/ADJ doors/NOUN",
        "flight/NOUN of/ADP stairs/NOUN",
        "set/NOUN of/ADP stairs/NOUN",
        "set/NOUN of/ADP doors/NOUN",
        "top/NOUN of/ADP the/DET stairs/NOUN",
        "bottom/NOUN of/ADP the/DET steps/NOUN",
        "end/NOUN of/ADP the/DET hall/NOUN",
        "foot/NOUN of/ADP the/DET bed/NOUN",
        "head/NOUN of/ADP the/DET table/NOUN",
        "face/NOUN of/ADP the/DET clock/NOUN",
        "side/NOUN of/ADP the/DET room/NOUN",
    ],
    "ADJ": _tagged(
        """white black brown red blue green gray grey yellow beige tan orange pink purple golden dark light
        large small big little long short tall round square wooden open closed first second third next last
        other far near left right double main front narrow wide empty nearest farthest opposite
        same old new modern fancy ornate upper lower outdoor indoor middle final entire huge""",
        "ADJ",
    ),
    "COUNT": _tagged("two three four five six 2 3 4", "NUM"),
    "MATERIAL": _tagged("glass wood brick stone marble leather metal tile", "NOUN"),
    "NP": [
        "the/DET <THING>",
        "the/DET <THING>",
        "the/DET <THING>",
        "the/DET <ADJ> <THING>",
        "the/DET <ADJ> <ADJ> <THING>",
        "the/DET <ADJ> <MATERIAL> <THING>",
        "a/DET <ADJ> <THING>",
        "a/DET <THING>",
        "this/DET <THING>",
        "that/DET <THING>",
        "your/PRON <THING>",
        "<THING>",
        "<ADJ> <THING>",
        "the/DET <COUNT> <THING>",
        "<COUNT> <ADJ> <THING>",
        "the/DET <THING> and/CCONJ <THING>",
        "the/DET <THING> on/ADP <THE> <SIDE>",
        "the/DET <THING> with/ADP the/DET <ADJ> <THING>",
        "the/DET <THING> that/PRON leads/VERB to/ADP the/DET <THING>",
        "the/DET <THING> leading/VERB to/ADP the/DET <THING>",
    ],
    "BARE": ["<THING>", "<THING>", "<ADJ> <THING>", "<ADJ> <THING> and/CCONJ <THING>"],
    "THE": ["the/DET", "your/PRON"],
    "SIDE": _tagged("left right", "NOUN"),
    "WAY": _tagged("left right", "ADV"),
    "PREP": [
        *_tagged(
            """past through into down up towards toward to across along around between behind beyond from
            inside outside over under onto by near beside at in on off against before after""",
            "ADP",
        ),
        "out/ADP of/ADP",
        "passed/ADP",  # a common misspelling of "past"
        "next/ADV to/ADP",
        "in/ADP front/NOUN of/ADP",
        "away/ADV from/ADP",
        "to/ADP the/DET <SIDE> of/ADP",
        "to/ADP the/DET end/NOUN of/ADP",
        "straight/ADV through/ADP",
        "just/ADV past/ADP",
        "across/ADP from/ADP",
        "up/ADV to/ADP",
        "all/DET the/DET way/NOUN down/ADP",
        "halfway/ADV down/ADP",
    ],
    "HEADING": [
        "<WAY>",
        "<WAY>",
        "slightly/ADV <WAY>",
        "sharply/ADV <WAY>",
        "immediately/ADV <WAY>",
        "to/ADP <THE> <SIDE>",
        "<WAY> again/ADV",
        "around/ADV",
    ],
    "WHITHER": [
        "<PREP> <NP>",
        "<PREP> <NP>",
        "<PREP> <NP>",
        "<PREP> <NP> <PREP> <NP>",
        "forward/ADV",
        "straight/ADV",
        "straight/ADV ahead/ADV",
        "ahead/ADV <PREP> <NP>",
        "upstairs/ADV",
        "downstairs/ADV",
        "inside/ADV",
        "outside/ADV",
        "back/ADV <PREP> <NP>",
        "<HEADING>",
        "<HEADING> <PREP> <NP>",
        "forward/ADV <COUNT> steps/NOUN",
    ],
    "LOITER": [
        "",
        "there/ADV",
        "here/ADV",
        "<PREP> <NP>",
        "<PREP> <NP>",
        "<PREP> <NP>",
        "just/ADV <PREP> <NP>",
    ],
    "TURNING": [
        "a/DET <SIDE>",
        "a/DET <SHARP> <SIDE>",
        "a/DET <SIDEWAYS> turn/NOUN",
        "the/DET first/ADJ <SIDE>",
        "<SIDE>",
        "a/DET u/NOUN~-/PUNCT~turn/NOUN",
    ],
    "SHARP": _tagged("slight sharp hard quick immediate second", "ADJ"),
    "SIDEWAYS": _tagged("left right", "ADJ"),
    "COMMAND": [
        "<ROAM> <WHITHER>",
        "<ROAM> <WHITHER>",
        "<REACH> <NP>",
        "<REACH> <NP>",
        "<REACH> <NP> <PREP> <NP>",
        "<REACH> <BARE>",
        "<REACH> <BARE> <PREP> <NP>",
        "<ALONE>",
        "<TURN> <HEADING>",
        "<TURN> <HEADING> <PREP> <NP>",
        "<REST> <LOITER>",
        "<REST> <LOITER>",
        "<MAKE> <TURNING>",
        "<MAKE> <TURNING> <PREP> <NP>",
        "take/VERB <NP>",
        "take/VERB <COUNT> steps/NOUN forward/ADV",
        "<CARRY> <ING> <WHITHER>",
        "<PLACE> yourself/PRON <PREP> <NP>",
        "keep/VERB <NP> on/ADP <THE> <SIDE>",
        "put/VERB <NP> behind/ADP you/PRON",
        "look/VERB <PREP> <NP>",
        "reverse/VERB direction/NOUN",
        "change/VERB direction/NOUN",
        "do/AUX not/PART <ROAM> <WHITHER>",
        "do/AUX~n't/PART <REACH> <NP>",
    ],
    "WHEN": [
        "once/SCONJ you/PRON <SEE> <NP>",
        "when/ADV you/PRON <SEE> <NP>",
        "after/SCONJ you/PRON <SEE> <NP>",
        "once/ADV inside/ADV",
        "at/ADP <NP>",
        "in/ADP <NP>",
        "from/ADP <NP>",
        "after/SCONJ <ING> <NP>",
        "before/ADP <NP>",
        "past/ADP <NP>",
        "with/ADP <NP> behind/ADP you/PRON",
        "with/ADP <NP> on/ADP <THE> <SIDE>",
        "facing/VERB <NP>",
        "<ING> <PREP> <NP>",
    ],
    "SEE": _tagged("see reach pass enter exit leave face approach hit cross", "VERB"),
    "STATE": [
        "there/PRON is/VERB <NP> on/ADP <THE> <SIDE>",
        "there/PRON will/AUX be/VERB <NP> <PREP> <NP>",
        "you/PRON will/AUX see/VERB <NP>",
        "you/PRON~'ll/AUX pass/VERB <NP>",
        "you/PRON should/AUX be/AUX <PREP> <NP>",
        "the/DET exit/NOUN is/AUX on/ADP <THE> <SIDE>",
        "the/DET <THING> is/AUX <PREP> <NP>",
        "the/DET <THING> will/AUX be/AUX on/ADP <THE> <SIDE>",
        "this/PRON is/AUX <NP>",
        "your/PRON <STOPPING> is/AUX <PREP> <NP>",
        "that/PRON is/AUX your/PRON <STOPPING>",
        "the/DET <STOPPING> is/AUX <PREP> <NP>",
        "the/DET <ADJ> <STOPPING> ends/VERB at/ADP <NP>",
    ],
    "STOPPING": _tagged(
        "stop destination goal exit turn entrance path walk way head face step end start", "NOUN"
    ),
    "THEN": [
        "and/CCONJ",
        "and/CCONJ then/ADV",
        "then/ADV",
        "~,/PUNCT",
        "~,/PUNCT then/ADV",
        "~,/PUNCT and/CCONJ",
    ],
    "FIRST": [
        "then/ADV",
        "next/ADV",
        "now/ADV",
        "please/INTJ",
        "immediately/ADV",
        "then/ADV ~,/PUNCT",
        "and/CCONJ",
    ],
    "SENTENCE": [
        "<COMMAND>",
        "<COMMAND>",
        "<COMMAND>",
        "<COMMAND> <THEN> <COMMAND>",
        "<COMMAND> <THEN> <COMMAND>",
        "<COMMAND> <THEN> <COMMAND> <THEN> <COMMAND>",
        "<COMMAND> until/SCONJ you/PRON <SEE> <NP>",
        "<COMMAND> as/SCONJ you/PRON <SEE> <NP>",
        "<COMMAND> ~,/PUNCT <ING> <NP>",
        "<WHEN> ~,/PUNCT <COMMAND>",
        "<WHEN> <COMMAND>",
        "<FIRST> <COMMAND>",
        "<STATE>",
    ],
}

_STARTS = {  # how a command with a verb of this group goes on
    group: [rule.removeprefix(f"<{group}>") for rule in GRAMMAR["COMMAND"] if rule.startswith(f"<{group}>")]
    for group in ("ROAM", "REACH", "ALONE", "TURN", "REST", "CARRY", "PLACE", "MAKE")
}


def instructions(seed: int, *, per_verb: int = 6, others: int = 1500) -> Iterator[list[Token]]:
    """Instructions of one to four sentences: `per_verb` that start with each verb, and `others` of any kind.

    The same seed gives the same instructions. Their case and the marks between sentences vary as people's do.
    """
    rng = random.Random(seed)
    sentences = [
        _expand(verb + rng.choice(endings), rng)
        for group, endings in _STARTS.items()
        for verb in GRAMMAR[group]
        for _ in range(per_verb)
    ]
    sentences += [_expand("<SENTENCE>", rng) for _ in range(others)]
    rng.shuffle(sentences)
    while sentences:
        count = rng.choice((1, 1, 2, 3, 4))
        yield _instruction(sentences[:count], rng)
        del sentences[:count]


def _expand(rule: str, rng: random.Random) -> list[str]:
    """The tokens of a rule in the notation above, each slot filled by a random choice."""
    tokens = []
    for part in rule.split():
        if part.startswith("<"):
            tokens += _expand(rng.choice(GRAMMAR[part.strip("<>")]), rng)
        else:
            tokens.append(part)
    return tokens


def _instruction(sentences: list[list[str]], rng: random.Random) -> list[Token]:
    change = rng.choices((str, str.lower, str.upper), (70, 24, 6))[0]
    ends = rng.choices((["~./PUNCT"], ["~,/PUNCT"], []), (80, 5, 15))[0]
    tokens: list[Token] = []
    for sentence in sentences:
        words = _tokens([*sentence, *ends])
        words[0] = words[0]._replace(text=words[0].text.capitalize())
        tokens += [word._replace(text=change(word.text)) for word in words]
    return tokens


def _tokens(parts: list[str]) -> list[Token]:
    tokens: list[Token] = []
    for part in parts:
        for index, piece in enumerate(part.split("~")):
            if index and tokens:
                tokens[-1] = tokens[-1]._replace(space=False)
            if piece:
                text, pos = piece.rsplit("/", 1)
                tokens.append(Token(text, pos, space=True))
    return tokens
