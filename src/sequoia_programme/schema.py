"""The tables of a programme's database."""

from datetime import UTC, datetime

import sqlalchemy as sql

from sequoia_programme.sound import Bytes, Day, Facts, Number, Text, Time, Truth, Whole

metadata = sql.MetaData()

# Whom a row of the roster is about: somebody to be visited, or somebody who visits.
ARM, WORKER = "arm", "worker"


def now() -> datetime:
    """Return the time in UTC, as it is stored."""
    return datetime.now(UTC).replace(tzinfo=None)


def _said() -> list[sql.Column[str]]:
    """Return what is said beside a record: the time of day, a note, and who recorded it."""
    names = ("time", "note", "recorder")
    return [sql.Column(name, Text, nullable=False, server_default="") for name in names]


version = sql.Table("schema_version", metadata, sql.Column("number", Whole, nullable=False))

roster = sql.Table(
    "roster",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("role", Text, nullable=False),
    sql.Column("name", Text, nullable=False),
    # The group of an arm, whose members share one model; empty for a worker.
    sql.Column("group", Text, nullable=False),
    # Nothing means from the beginning, and until further notice.
    sql.Column("joined", Day),
    sql.Column("left", Day),
    # What else the sheet says: costs, slots, features, as text.
    sql.Column("facts", Facts, nullable=False),
    sql.UniqueConstraint("role", "name"),
)

absences = sql.Table(
    "absences",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("member", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("first", Day, nullable=False),
    sql.Column("last", Day, nullable=False),
    sql.UniqueConstraint("member", "first", "last"),
)

sightings = sql.Table(
    "sightings",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("arm", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("date", Day, nullable=False),
    sql.Column("state", Text, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
    *_said(),
    sql.UniqueConstraint("arm", "date"),
)

visits = sql.Table(
    "visits",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("arm", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("date", Day, nullable=False),
    # A name, not a row of the roster: old records name people who are long gone.
    sql.Column("by", Text, nullable=False),
    sql.Column("dose", Text, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
    *_said(),
    sql.UniqueConstraint("arm", "date", "by"),
)

# What came of a visit that was not made, and who came, went or died; see `outcomes.KINDS`.
outcomes = sql.Table(
    "outcomes",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("arm", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("date", Day, nullable=False),
    sql.Column("by", Text, nullable=False),
    sql.Column("kind", Text, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
    *_said(),
    sql.UniqueConstraint("arm", "date", "by"),
)

plans = sql.Table(
    "plans",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("date", Day, nullable=False),
    # A hash of everything in it: the same plan is kept once.
    sql.Column("digest", Text, nullable=False),
    sql.Column("policy", Text, nullable=False),
    sql.Column("reason", Text, nullable=False),
    sql.Column("overrides", Facts, nullable=False),
    # When it was made, the last time; the plan of a date that was made last is the proposed one.
    sql.Column("at", Time, nullable=False, default=now),
    # When it was published, if it was; the one that was published last holds.
    sql.Column("published", Time),
    sql.UniqueConstraint("date", "digest"),
)

tasks = sql.Table(
    "tasks",
    metadata,
    sql.Column("plan", sql.ForeignKey("plans.id"), primary_key=True),
    sql.Column("position", Whole, primary_key=True, autoincrement=False),
    sql.Column("date", Day, nullable=False),
    sql.Column("by", Text, nullable=False),
    sql.Column("when", Text, nullable=False),
    sql.Column("who", Text, nullable=False),
    sql.Column("dose", Text, nullable=False),
    sql.Column("minutes", Number),
    sql.Column("state", Text, nullable=False),
    sql.Column("gain", Number, nullable=False),
)

fits = sql.Table(
    "fits",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("date", Day, nullable=False),
    # What the axes of its arrays mean.
    sql.Column("names", Facts, nullable=False),
    sql.Column("arrays", Bytes, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

# Problems that were exported, so that a model that was trained for one still means something when
# transitions, and with them the beliefs that are states, are others.
exported = sql.Table(
    "exported",
    metadata,
    sql.Column("fingerprint", Text, primary_key=True),
    # The groups and states that the axes of its beliefs mean.
    sql.Column("names", Facts, nullable=False),
    sql.Column("beliefs", Bytes, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

journal = sql.Table(
    "journal",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("at", Time, nullable=False, default=now),
    sql.Column("words", Text, nullable=False),
    # Whose account did it; nothing where it was the command.
    sql.Column("by", Text),
    # Whether a plan may be another one after it.
    sql.Column("moves", Truth, nullable=False, server_default=sql.true()),
)

drafts = sql.Table(
    "drafts",
    metadata,
    # What is wished for a date, after each change; the last one holds.
    sql.Column("id", Whole, primary_key=True),
    sql.Column("date", Day, nullable=False),
    sql.Column("overrides", Facts, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

notes = sql.Table(
    "notes",
    metadata,
    sql.Column("id", Whole, primary_key=True),
    sql.Column("member", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("words", Text, nullable=False),
    sql.Column("by", Text, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

receipts = sql.Table(
    "receipts",
    metadata,
    # Whoever sends a record again, because the answer got lost, sends it with the same key.
    sql.Column("key", Text, primary_key=True),
    sql.Column("words", Text, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

accounts = sql.Table(
    "accounts",
    metadata,
    sql.Column("name", Text, primary_key=True),
    sql.Column("role", Text, nullable=False),
    # Of the password, by argon2.
    sql.Column("hash", Text, nullable=False),
    # Whose visits are shown to somebody who visits.
    sql.Column("worker", sql.ForeignKey("roster.id")),
    sql.Column("at", Time, nullable=False, default=now),
)

sessions = sql.Table(
    "sessions",
    metadata,
    # A hash of the token, which only the browser has.
    sql.Column("digest", Text, primary_key=True),
    sql.Column("account", sql.ForeignKey("accounts.name"), nullable=False),
    # When it was last used, and when it began.
    sql.Column("at", Time, nullable=False, default=now),
    sql.Column("began", Time, default=now),
    # Which browser, for whoever looks through their sessions.
    sql.Column("device", Text),
)

attempts = sql.Table(
    "attempts",
    metadata,
    # A hash of what failures to sign in are counted by.
    sql.Column("key", Text, primary_key=True),
    sql.Column("failures", Whole, nullable=False),
    # Until when the next try is refused.
    sql.Column("until", Time, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

tokens = sql.Table(
    "tokens",
    metadata,
    # Who asks, for the journal: another system, not a person.
    sql.Column("name", Text, primary_key=True),
    # A hash of the token, which only the other system has.
    sql.Column("digest", Text, nullable=False, unique=True),
    sql.Column("scopes", Text, nullable=False),
    sql.Column("expires", Time, nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

feeds = sql.Table(
    "feeds",
    metadata,
    # A hash of the secret in the address of somebody's calendar.
    sql.Column("digest", Text, primary_key=True),
    sql.Column("worker", sql.ForeignKey("roster.id"), nullable=False),
    sql.Column("at", Time, nullable=False, default=now),
)

answers = sql.Table(
    "answers",
    metadata,
    # Whoever writes again, because the answer got lost, sends the same key.
    sql.Column("key", Text, primary_key=True),
    # A hash of what was asked for with it.
    sql.Column("request", Text, nullable=False),
    # Nothing while it is worked on.
    sql.Column("status", Whole),
    sql.Column("body", Text),
    sql.Column("at", Time, nullable=False, default=now),
)
