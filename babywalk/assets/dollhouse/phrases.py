"""Phrases: tables of templates that the narrator fills in.

Fields: {go} a verb of motion, {room} the current room, {to} the room entered, {thing} a landmark,
{side} left or right, {door} a door, {nth} first to third.
"""

from __future__ import annotations

NAMES = {
    "couch": ("couch", "couch", "sofa"),
    "fridge": ("refrigerator", "fridge"),
    "tv": ("tv", "television"),
    "plant": ("plant", "potted plant"),
    "painting": ("painting", "picture"),
    "bathtub": ("bathtub", "tub"),
    "bookshelf": ("bookshelf", "bookcase"),
    "washer": ("washer", "washing machine"),
    "rug": ("rug", "carpet"),
    "kitchen island": ("kitchen island", "island"),
    "cabinet": ("cabinet",),
    "trash can": ("trash can",),
    "archway": ("archway", "opening"),
    "door": ("door", "doorway"),
}

ROOM_NAMES = {
    "hallway": ("hallway", "hallway", "hall", "corridor"),
    "entryway": ("entryway", "foyer"),
    "office": ("office", "study"),
    "gym": ("gym", "exercise room"),
    "closet": ("closet", "walk-in closet"),
    "bathroom": ("bathroom", "bathroom", "restroom"),
    "living room": ("living room",),
    "stairs": ("stairwell",),
}

GO = ("walk", "walk", "go", "head", "move")
CONTINUE = ("continue", "keep walking", "keep going", "walk", "go", "proceed")

TURNS = {
    "turn": (
        "turn {side}",
        "turn {side}",
        "take a {side}",
        "make a {side}",
        "go {side}",
        "turn to the {side}",
    ),
    "slight": (
        "turn slightly {side}",
        "veer {side}",
        "veer slightly to the {side}",
        "bear {side}",
        "make a slight {side}",
    ),
    "sharp": ("make a sharp {side}", "take a sharp {side}", "turn sharply to the {side}"),
    "around": ("turn around", "turn around", "turn completely around", "do a 180 degree turn"),
}

ORDINALS = ("first", "second", "third")

# Inside one room.
ALONG_HALLWAY = (
    "{go} down the {room}",
    "{go} along the {room}",
    "{go} straight down the {room}",
    "{go} forward down the {room}",
)
END_OF_HALLWAY = ("{go} to the end of the {room}", "{go} all the way down the {room}")
ACROSS_ROOM = (
    "{go} through the {room}",
    "{go} across the {room}",
    "cross the {room}",
    "{go} to the other side of the {room}",
)
FORWARD = ("{go} forward", "{go} straight", "{go} straight ahead", "{go} forward a few steps", "walk ahead")
PAST = (
    "{go} past the {thing} on your {side}",
    "{go} past the {thing} on the {side}",
    "pass the {thing} on your {side}",
    "{go} past the {thing}",
    "pass the {thing}",
    "{go} by the {thing} on your {side}",
)
TOWARDS = ("{go} towards the {thing}", "{go} toward the {thing}", "{go} straight towards the {thing}")
UNTIL = (
    "{go} until you reach the {thing}",
    "{go} forward until you get to the {thing}",
    "{go} up to the {thing}",
)
TO_STAIRS = ("{go} to the stairs", "{go} until you reach the stairs", "{go} towards the staircase")

# Through a door.
EXIT = (
    "exit the {room}",
    "exit the {room}",
    "exit the {room}",
    "leave the {room}",
    "leave the {room}",
    "walk out of the {room}",
    "go out of the {room}",
    "exit the {room} into the {to}",
    "{go} out of the {room} and into the {to}",
    "exit the {room} through the {door}",
    "leave the {room} through the {door}",
)
EXIT_SIDE = (
    "exit the {room} through the {door} on your {side}",
    "exit using the {door} on the {side}",
    "{go} through the {door} on your {side}",
    "{go} out the {door} on your {side}",
    "exit the {room} to the {side}",
)
ENTER = (
    "enter the {to}",
    "{go} into the {to}",
    "{go} through the {door} into the {to}",
    "step into the {to}",
    "{go} straight into the {to}",
    "enter the {to} through the {door}",
)
ENTER_SIDE = (
    "enter the {to} on your {side}",
    "{go} into the {to} on the {side}",
    "turn {side} into the {to}",
    "{go} through the {door} on your {side}",
    "{go} through the {door} on the {side} into the {to}",
    "take a {side} into the {to}",
    "turn {side} into the {to}",
)
ENTER_NTH = (
    "take the {nth} {side} into the {to}",
    "enter the {nth} door on your {side}",
    "go through the {nth} door on the {side}",
    "turn {side} at the {nth} door",
    "take the {nth} door on the {side} into the {to}",
)
FROM_TO = (
    "{go} from the {room} into the {to}",
    "leave the {room} and enter the {to}",
    "{go} through the {door} into the {to}",
    "enter the {to}",
    "enter the {to}",
    "{go} into the {to}",
    "{go} into the {to}",
)
ACROSS_HALLWAY = (
    "leave the {room} and go straight across the hallway into the {to}",
    "exit the {room} and enter the {to} straight ahead",
    "{go} from the {room} across the hallway into the {to}",
    "{go} straight out of the {room} and into the {to}",
    "exit the {room} and walk into the {to} across the hall",
)
SAME_AGAIN = ("{go} into the next {to}", "enter the other {to}", "{go} through the {door} into the next {to}")

# Stairs.
STAIRS_WORDS = {
    "up": (
        "{go} up the stairs",
        "{go} up the steps",
        "climb the stairs",
        "{go} upstairs",
        "take the stairs up",
    ),
    "down": (
        "{go} down the stairs",
        "{go} down the steps",
        "descend the stairs",
        "{go} downstairs",
        "take the stairs down",
    ),
}
HALF_STAIRS = {
    "up": ("{go} up the stairs to the landing", "{go} halfway up the stairs", "{go} up to the landing"),
    "down": (
        "{go} down the stairs to the landing",
        "{go} halfway down the stairs",
        "{go} down to the landing",
    ),
}
REST_OF_STAIRS = {
    "up": ("{go} up the stairs", "{go} up the rest of the stairs", "{go} up from the landing"),
    "down": ("{go} down the stairs", "{go} down the rest of the stairs", "{go} down from the landing"),
}

# Openings and links.
BEHIND = (
    "with the {thing} behind you, ",
    "stand with your back to the {thing} and ",
    "turn so that the {thing} is behind you and ",
)
ONCE_IN = (
    "once in the {room}, ",
    "once you are in the {room}, ",
    "in the {room}, ",
    "when you are in the {room}, ",
)

# The end.
STOP = ("stop", "stop", "wait", "wait")
STOP_AT = (
    "{stop} next to the {thing}",
    "{stop} near the {thing}",
    "{stop} by the {thing}",
    "{stop} beside the {thing}",
    "{stop} at the {thing}",
    "stop when you reach the {thing}",
)
STOP_SIDE = ("{stop} near the {thing} on your {side}", "{stop} by the {thing} on the {side}")
STOP_ON = ("{stop} on the {thing}", "stand on the {thing} and {stop}", "{stop} once you are on the {thing}")
STOP_INSIDE = (
    "{stop} just inside the {room}",
    "{stop} once you are inside the {room}",
    "{stop} right after the {door}",
    "{stop} just past the {door}",
)
STOP_ROOM = ("{stop} in the {room}", "{stop} there", "{stop} in the {room}")
STOP_DOOR = (
    "{stop} by the {door} to the {to}",
    "{stop} in front of the {door} to the {to}",
    "{stop} outside the {to}",
    "{stop} before the {door} of the {to}",
)
STOP_STAIRS = {
    "up": (
        "{stop} at the top of the stairs",
        "{stop} at the top of the steps",
        "stop when you reach the top",
    ),
    "down": (
        "{stop} at the bottom of the stairs",
        "{stop} at the foot of the stairs",
        "stop when you reach the bottom",
    ),
}
STOP_LANDING = ("{stop} on the landing", "{stop} there on the landing")

# Links between two clauses: a mark after the first, a space, a word before the second.
LINKS = (" and", ",", ", then", " and then")
AFTER_AND = (", then", " then", ",")
LAST_LINKS = (" and", " and", ", and", " then")
