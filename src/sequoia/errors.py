"""What can go wrong, each with one clear line: where, what was found, what is wanted."""

_MOST_LINES = 20


class SequoiaError(Exception):
    """Base of every error that is the caller's to mend; the command prints it and exits 2.

    Made from one text or, where several things are wrong at once, from several.
    """

    @property
    def lines(self) -> list[str]:
        """One line for each thing that is wrong; of very many, the first and how many more."""
        # What was found is quoted in the message, and may itself have line breaks.
        lines = [" ".join(str(text).splitlines()) for text in self.args]
        if len(lines) > _MOST_LINES:
            return [*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more."]
        return lines

    def __str__(self) -> str:
        return " ".join(self.lines)


class ProblemError(SequoiaError):
    """A problem, or a part of it, is not well-formed."""


class ConfigError(SequoiaError):
    """A setting is unknown, or its value is out of range."""


class FileError(SequoiaError):
    """A file cannot be read as what it claims to be, or cannot be written."""


class InfeasibleDecision(SequoiaError):
    """A decision breaks a rule; the message names the rule."""


class InfeasibleSpace(SequoiaError):
    """No decision at all satisfies the rules."""


class TooLarge(SequoiaError):
    """Something would need more than it is allowed; the message says how much."""


class SolverUnavailable(SequoiaError):
    """A solver is not installed, or has no licence here."""


class MissingPackage(SequoiaError):
    """A package of an optional extra is not installed."""


class PluginError(SequoiaError):
    """A part that another package adds cannot be used."""


class SolverFailed(SequoiaError):
    """A solver ended without an answer that can be trusted."""
