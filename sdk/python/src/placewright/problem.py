"""The two ways in which a unit gives no answer."""


class Refused(Exception):
    """The request or a setting is at fault: the caller is told this sentence, and
    the unit is not blamed."""


class Failed(Exception):
    """The unit itself is at fault: its failure policy applies. Every other exception
    that leaves the author's code counts as this one, with its traceback's last lines."""
