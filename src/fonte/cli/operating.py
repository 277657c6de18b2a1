"""erase."""

from __future__ import annotations

import argparse

from fonte.access.records import AuditEntry
from fonte.answer import now
from fonte.cli.arguments import Unsaid, UsageError
from fonte.cli.opening import corpus, home_of
from fonte.cli.output import Output


def erase(options: argparse.Namespace, output: Output) -> int:
    """Documents, or else a user, or else the tenant, out of every file."""
    from fonte.stores.home import Home

    if options.documents and options.user:
        raise UsageError("documents or a user, not both", hint="fonte erase DOCUMENT…, or fonte erase --user NAME")
    if not options.documents and not options.user and isinstance(options.tenant, Unsaid):
        raise UsageError("erase what?", hint="name documents, or --user NAME, or --tenant NAME with all that it has")
    tenant = str(options.tenant)
    with corpus(options) as opened:
        if options.documents:
            what = opened.erase(*options.documents, tenant=tenant)
        elif options.user:
            what = ["a user"]
            opened.erase_user(options.user, tenant=tenant)
        else:
            what = [f"tenant {tenant}"]
            opened.erase_tenant(tenant)
    log = Home(home_of(options)).audit()
    log.record(AuditEntry(now(), tenant, "command line", None, "fonte erase", ", ".join(what), "ok"))
    log.close()
    if output.json_mode:
        output.json({"erased": what})
    else:
        for one in what:
            output.line(f"erased {one}")
    if options.documents:
        output.note("generations that could be gone back to are gone too")
        output.note("a file that still lies in a synced source comes back with the next sync: remove or --exclude it")
    return 0
