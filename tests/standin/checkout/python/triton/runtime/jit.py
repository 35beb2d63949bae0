"""Stand-in for the frontend."""


def greeting() -> str:
    return "upstream"
