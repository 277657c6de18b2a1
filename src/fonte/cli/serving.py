"""serve, mcp and keys."""

from __future__ import annotations

import argparse
import ipaddress
import os
import resource
import signal
from datetime import timedelta
from pathlib import Path
from types import FrameType

from fonte.access.identity import Action, Identity
from fonte.access.keys import Minted, key_told, mint, rotate
from fonte.access.records import KeyRecord, KeyStore
from fonte.answer import now
from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, home_of, principal, settings_of
from fonte.cli.output import Output
from fonte.errors import ConfigError, NotFound


def serve(options: argparse.Namespace, output: Output) -> int:
    """The server, until it is stopped."""
    return _listen(options, output, only_tools=False)


def mcp(options: argparse.Namespace, output: Output) -> int:
    """Tools for programs that speak the Model Context Protocol: over standard input and output, or over HTTP."""
    try:
        import mcp.server  # noqa: F401 - is it there

        from fonte.serving import tools_over_stdio
    except ModuleNotFoundError as error:
        raise ConfigError(f"fonte mcp needs {error.name}", hint="pip install 'fonte[mcp]'") from error
    if options.http:
        return _listen(options, output, only_tools=True)
    from importlib.metadata import version

    from fonte.config import load_settings

    home = home_of(options)
    settings = load_settings(Path(options.config) if options.config else None, home, os.environ)
    # What it may do is to read: whoever starts it gives it to a model.
    who = Identity("stdio", principal(options), frozenset({Action.READ}))
    with corpus(options) as opened:
        tools_over_stdio(home, settings, opened, who, version("fonte"))
    return 0


def _listen(options: argparse.Namespace, output: Output, *, only_tools: bool) -> int:
    try:
        import uvicorn

        from fonte.http.app import create_app
        from fonte.http.logs import log_to_stderr
        from fonte.serving import at_work, make_served
    except ModuleNotFoundError as error:
        raise ConfigError(f"fonte serve needs {error.name}", hint="pip install 'fonte[serve]'") from error
    from importlib.metadata import version

    from fonte.config import load_settings
    from fonte.homes import stores_of

    home = Path(options.home)
    settings = load_settings(Path(options.config) if options.config else None, home, os.environ)
    alone = _is_loopback(options.host) and not options.proxy
    known = stores_of(home, settings).keys()
    if not alone and not known.any_key() and settings.oidc.issuer is None:
        raise ConfigError(
            f"without keys fonte serve answers this machine alone, not {options.host} or a proxy",
            hint="make one first: fonte keys create --user NAME --actions read,write,admin",
        )
    local = Identity("local", principal(options), frozenset(Action)) if alone else None
    with corpus(options, must_exist=False) as opened:
        served = make_served(home, settings, opened, local)
        app = create_app(served, version("fonte"), only_tools=only_tools)
        if served.local is not None and not known.any_key():
            output.note(f"no key exists: whoever reaches this port acts as tenant {served.local.principal.tenant!r}")
        opened.warm()
        host = f"[{options.host}]" if ":" in options.host else options.host
        output.note(f"http://{host}:{options.port}{'/mcp' if only_tools else ''}")
        log_to_stderr(settings.serve.logs)
        # Once it has ended, uvicorn hands the signal on that ended it: what stands below is to be tidied first.
        signal.signal(signal.SIGTERM, _told_to_stop)
        _all_files_allowed()
        with at_work(home, settings, served):
            uvicorn.run(
                app,
                host=options.host,
                port=options.port,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(options.proxy),
                forwarded_allow_ips=list(options.proxy) or None,
                timeout_graceful_shutdown=30,
            )
    return 0


def _all_files_allowed() -> None:
    """As many open files as the system allows: each thread has its own connections to the files of each tenant."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _told_to_stop(_signal: int, _frame: FrameType | None) -> None:
    """Nothing more: the server is over by then."""


def keys(options: argparse.Namespace, output: Output) -> int:
    """Make, list, end and replace keys."""
    from fonte.homes import stores_of

    store = stores_of(Path(options.home), settings_of(options)).keys()
    if options.action == "list":
        return _list(store, options.tenant, output)
    if options.action == "create":
        lifetime = timedelta(days=options.days) if options.days else None
        actions = _actions(options.actions)
        return _shown(mint(store, principal(options), actions, now=now(), lifetime=lifetime), output)
    if not options.key:
        raise UsageError(f"keys {options.action} needs the ID of a key", hint="fonte keys list tells what is there")
    found = store.key(options.key)
    if found is None or found.principal.tenant != options.tenant:
        raise NotFound(f"there is no key {options.key!r} of tenant {options.tenant!r}", hint="fonte keys list")
    if options.action == "rotate":
        return _shown(rotate(store, options.key, now=now(), grace=timedelta(hours=options.grace_hours)), output)
    store.end_key(options.key, now())
    if output.json_mode:
        output.json({"revoked": options.key})
    else:
        output.line(f"revoked {options.key}")
    return 0


def _actions(names: tuple[str, ...]) -> frozenset[Action]:
    try:
        return frozenset(Action(name) for name in names)
    except ValueError as error:
        raise UsageError(f"--actions: {error}", hint=f"use some of {', '.join(Action)}") from error


def _shown(made: Minted, output: Output) -> int:
    told = {"id": made.record.id, "key": made.text} | key_told(made.record)
    if output.json_mode:
        output.json(told)
        return 0
    output.line(made.text)
    output.note("this is shown once; keep it where secrets are kept")
    return 0


def _list(store: KeyStore, tenant: str, output: Output) -> int:
    found = [one for one in store.every_key() if one.principal.tenant == tenant]
    if output.json_mode:
        output.json({"keys": [key_told(one) for one in found]})
        return 0
    output.table(("KEY", "USER", "ROLES", "ACTIONS", "CREATED", "EXPIRES"), [_row(one) for one in found])
    return 0


def _row(one: KeyRecord) -> list[str]:
    expires = "never" if one.expires_at is None else one.expires_at.strftime("%Y-%m-%d %H:%M")
    return [
        one.id,
        one.principal.user or "",
        ",".join(sorted(one.principal.roles)),
        ",".join(sorted(one.actions)),
        one.created_at.strftime("%Y-%m-%d %H:%M"),
        expires if one.good_at(now()) else f"over since {expires}",
    ]


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
