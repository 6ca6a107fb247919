"""Every page, how it is reached and who may: the one list."""

from sequoia_programme.accounts import ADMINISTER, PLAN, SEE
from sequoia_programme.web import accounts, importing, people, quality, record, staff, today
from sequoia_programme.web.call import ENTER
from sequoia_programme.web.guard import SHEET_BYTES, Guarded

ROUTES = (
    Guarded("GET", ENTER, None, accounts.enter),
    Guarded("GET", "/login", None, accounts.show_login),
    Guarded("POST", "/login", None, accounts.login),
    Guarded("POST", "/language", None, accounts.set_language),
    Guarded("POST", "/logout", SEE, accounts.logout),
    Guarded("GET", "/", SEE, today.show),
    Guarded("GET", "/today/why", SEE, today.why),
    Guarded("GET", "/today/compare", SEE, today.compare),
    Guarded("GET", "/today/file{ending}", SEE, today.file),
    Guarded("POST", "/today/wish", PLAN, today.wish),
    Guarded("POST", "/today/undo", PLAN, today.undo),
    Guarded("POST", "/today/publish", PLAN, today.publish),
    Guarded("POST", "/today/withdraw", PLAN, today.withdraw),
    Guarded("GET", "/record", SEE, record.show),
    Guarded("POST", "/record/send", PLAN, record.send),
    Guarded("GET", "/people", SEE, people.show),
    Guarded("GET", "/people/names", SEE, people.names),
    Guarded("GET", "/people/one", SEE, people.one),
    Guarded("POST", "/people/add", PLAN, people.add),
    Guarded("POST", "/people/pause", PLAN, people.pause),
    Guarded("POST", "/people/leave", PLAN, people.leave),
    Guarded("POST", "/people/note", PLAN, people.note),
    Guarded("GET", "/staff", SEE, staff.show),
    Guarded("POST", "/staff/change", PLAN, staff.change),
    Guarded("POST", "/staff/absent", PLAN, staff.absent),
    Guarded("POST", "/staff/leave", PLAN, staff.leave),
    Guarded("POST", "/staff/rule", PLAN, staff.add_one_rule),
    Guarded("POST", "/staff/rule/remove", PLAN, staff.remove_one_rule),
    Guarded("GET", "/quality", SEE, quality.show),
    Guarded("POST", "/quality/start", PLAN, quality.start),
    Guarded("POST", "/quality/stop", PLAN, quality.stop),
    Guarded("GET", "/import", ADMINISTER, importing.show),
    Guarded("POST", "/import/check", ADMINISTER, importing.check, SHEET_BYTES),
    Guarded("POST", "/import/start", ADMINISTER, importing.start),
    Guarded("GET", "/accounts", ADMINISTER, accounts.show),
    Guarded("POST", "/accounts/add", ADMINISTER, accounts.add),
    Guarded("POST", "/accounts/change", ADMINISTER, accounts.change),
    Guarded("POST", "/accounts/remove", ADMINISTER, accounts.remove),
    Guarded("GET", "/journal", ADMINISTER, accounts.show_journal),
)
