"""`rubricweb endpoints`: the endpoints judges live at, at the terminal."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from rubricweb import access
from rubricweb.engine.number_format import MISSING, counted
from rubricweb.errors import Invalid
from rubricweb.judges.discovery.providers import Provider
from rubricweb.management.judges.models import tried
from rubricweb.management.terminal import prepare
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.paging import note_left_out
from rubricweb.management.terminal.printed import facts, moment, print_json, say, table, terminal
from rubricweb.management.terminal.secret_values import secret_value
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import JudgeEndpoint, Role
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.selectors.teams import lookup
from rubricweb.services.endpoints import discovery
from rubricweb.services.endpoints import endpoints as services
from rubricweb.services.endpoints.caching import caching_of
from rubricweb.services.endpoints.options import OPTIONS, options_of
from rubricweb.services.endpoints.reencryption import reencrypt_endpoints

CHANGED = (*services.NAMED, *OPTIONS)


def list_endpoints(options: argparse.Namespace) -> int:
    """A line per endpoint the team's owners added; `rubricweb judge list` has the built-in judges too."""
    team = resolve_actor(options, Role.VIEWER).team
    endpoints = services.endpoints_of(team, archived=options.archived)
    if options.json:
        _print_endpoints(endpoints)
    elif endpoints:
        rows = table(("id", "endpoint", "model", "address", "key"))
        for endpoint in endpoints:
            kept = "stored" if endpoint.sealed_key else "none"
            cells = (str(endpoint.pk), endpoint.name, endpoint.model, endpoint.base_url, kept)
            rows.add_row(*cells)
        terminal().print(rows)
    elif options.archived:
        note("No endpoint is archived.")
    else:
        note("There are no endpoints yet. Add one: rubricweb endpoints add NAME --base-url URL --model MODEL")
    note_left_out(archived_left_out(team, JudgeEndpoint, archived=options.archived), "--archived")
    return 0


def find(options: argparse.Namespace) -> int:
    """Who answers on this machine's usual ports, and whose keys are in the environment."""
    resolve_actor(options, Role.OWNER)
    servers, providers = discovery.local_servers(), discovery.providers_with_keys()
    if options.json:
        print_json(
            {"servers": [asdict(one) for one in servers], "with_key": [asdict(one) for one in providers]}
        )
        return 0
    for server in servers:
        what = "lists its models for a key" if server.wants_key else ", ".join(server.models)
        say(f"{server.name} at {server.base_url}: {what}")
    for provider in providers:
        say(f"{provider.name} at {provider.base_url}, key in {provider.environment}")
    if not servers and not providers:
        note(
            "Nothing answers on the usual ports of this machine, and no provider's key is in the environment."
        )
        return 0
    note(f"Add one: {_added_by(servers, providers)}")
    return 0


def _added_by(servers: Sequence[discovery.LocalServer], providers: Sequence[Provider]) -> str:
    """What to type to add the first that was found: one with models before one that wants a key."""
    if first := next((one for one in servers if one.models), None):
        model, address, key = first.models[0], first.base_url, ""
        prices = " --input-usd 0 --output-usd 0" if first.runs_here else ""
    else:
        model, prices = "MODEL", ""
        address = providers[0].base_url if providers else servers[0].base_url
        key = f" --key-from {providers[0].environment if providers else '-'}"
    name, typed = shlex.quote(discovery.name_of(model)), shlex.quote(model)
    return f"rubricweb endpoints add {name} --base-url {address} --model {typed}{key}{prices}"


def models(options: argparse.Namespace) -> int:
    """A line per model the endpoint says it has, of those that may judge: 1 where it does not say."""
    actor, endpoint = _endpoint(options, Role.OWNER)
    listed = discovery.models_of(actor.team, endpoint)
    if options.json:
        print_json(asdict(listed))
    elif listed.error:
        note(f"{endpoint} lists no models: {listed.error}.")
    for model in () if options.json else discovery.offered(listed):
        say(model)
    return 1 if listed.error else 0


def show(options: argparse.Namespace) -> int:
    """Everything about one endpoint but its secrets."""
    return _shown(options, _endpoint(options, Role.VIEWER)[1])


def add(options: argparse.Namespace) -> int:
    """Adds an endpoint, its secrets read from where the command line says they are."""
    actor = resolve_actor(options, Role.OWNER)
    said = {name: getattr(options, name) for name in CHANGED if hasattr(options, name)}
    api_key = "" if options.key_from is None else secret_value("--key-from", options.key_from, "API key")
    headers = _headers(options)
    endpoint = services.add_endpoint(
        actor.team, by=actor.user, api_key=api_key, extra_headers=headers, **said
    )
    if not options.json:
        return say(
            f"Endpoint {endpoint.pk}, {endpoint}, can be asked now. Test it before a run depends on it: "
            f"rubricweb endpoints test {endpoint.pk}"
        )
    return _shown(options, endpoint)


def edit(options: argparse.Namespace) -> int:
    """Changes what is named; headers that are not named stay."""
    actor, endpoint = _endpoint(options, Role.OWNER)
    changes: dict[str, Any] = {name: getattr(options, name) for name in CHANGED if hasattr(options, name)}
    if options.forget_key and options.key_from is not None:
        raise Invalid("--forget-key and --key-from say two things about the key; use one of them.")
    if options.key_from is not None:
        changes["api_key"] = secret_value("--key-from", options.key_from, "API key")
    elif options.forget_key:
        changes["api_key"] = ""
    if options.header or options.forget_header or options.forget_headers:
        changes["extra_headers"] = _kept_headers(options, endpoint) | _headers(options)
    if not changes:
        raise Invalid("Nothing to change; `rubricweb endpoints edit --help` lists what can be.")
    endpoint = services.edit_endpoint(endpoint, by=actor.user, **changes)
    if not options.json:
        return say(
            f"Endpoint {endpoint.pk}, {endpoint}, is changed. "
            "Running runs keep the settings they started with."
        )
    return _shown(options, endpoint)


def test(options: argparse.Namespace) -> int:
    """One tiny question, live: 0 when an answer could be read, 1 otherwise."""
    actor, endpoint = _endpoint(options, Role.OWNER)
    return tried(actor, endpoint.judge_id, as_json=options.json)


def remove(options: argparse.Namespace) -> int:
    """Takes it out of use and forgets its secrets."""
    actor, endpoint = _endpoint(options, Role.OWNER, archived_too=True)
    services.remove_endpoint(endpoint, by=actor.user, now=timezone.now())
    return say(f"Endpoint {endpoint.pk}, {endpoint}, is removed; its key is forgotten.")


def reencrypt(options: argparse.Namespace) -> int:
    """All stored secrets under today's SECRET_KEY: 0 when all could be read, 1 otherwise."""
    prepare.require_tables(note)
    done = reencrypt_endpoints()
    if options.json:
        print_json(
            {
                "reencrypted": done.reencrypted,
                "current": done.current,
                "unreadable": [{"id": pk, "team": team, "name": name} for pk, team, name in done.unreadable],
            }
        )
        return 1 if done.unreadable else 0
    lines = [
        f"{counted(done.reencrypted, 'endpoint')} encrypted under today's SECRET_KEY; "
        f"{done.current:,} already were."
    ]
    lines += [
        f"Endpoint {pk}, {name}, of team {team} is under no known key: an owner must enter its secrets again."
        for pk, team, name in done.unreadable
    ]
    say(*lines)
    return 1 if done.unreadable else 0


def _endpoint(
    options: argparse.Namespace, role: Role, *, archived_too: bool = False
) -> tuple[Actor, JudgeEndpoint]:
    actor = resolve_actor(options, role, archived_too=archived_too)
    endpoint = lookup.endpoint_called(actor.team, options.endpoint)
    return actor, access.access_endpoint(actor.team, endpoint.pk)


def _headers(options: argparse.Namespace) -> dict[str, str]:
    """Header → value, read from where each --header says."""
    headers: dict[str, str] = {}
    for pair in options.header:
        name, equals, source = pair.partition("=")
        if not (name and equals and source):
            # What was written is not repeated: it may be the value itself.
            raise Invalid("--header takes NAME=VARIABLE, the environment variable with its value, or NAME=-.")
        if name.lower() in map(str.lower, headers):
            raise Invalid(f"--header names {name} twice; allowed: each name once.")
        headers[name] = secret_value(f"--header {name}", source, f"Value of {name}")
    return headers


def _kept_headers(options: argparse.Namespace, endpoint: JudgeEndpoint) -> dict[str, str | None]:
    """The stored headers that are neither forgotten nor given anew, as `edit_endpoint` keeps them."""
    stored = services.header_names(endpoint) or ()
    forgotten = {name.lower() for name in options.forget_header}
    for name in options.forget_header:
        if name.lower() not in map(str.lower, stored):
            raise Invalid(f"{endpoint} sends no header {name!r}. Known: {', '.join(stored) or 'none'}.")
    if options.forget_headers:
        return {}
    given = {pair.partition("=")[0].lower() for pair in options.header}
    return {name: None for name in stored if name.lower() not in forgotten | given}


def _shown(options: argparse.Namespace, endpoint: JudgeEndpoint) -> int:
    if options.json:
        _print_endpoints([endpoint])
        return 0
    names = services.header_names(endpoint)
    [caching] = caching_of([endpoint], now=timezone.now())
    headers = "cannot be opened, enter them again" if names is None else ", ".join(names) or "none"
    rows = [
        ("endpoint", f"{endpoint.pk}, {endpoint}; a run names it {endpoint.judge_id}"),
        *([("archived", moment(endpoint.archived_at))] if endpoint.archived_at else []),
        ("base url", endpoint.base_url),
        ("model", endpoint.model),
        ("key", "stored" if endpoint.sealed_key else "none"),
        ("headers", headers),
        *((name.replace("_", " "), _value(value)) for name, value in options_of(endpoint).items()),
        ("caching", caching.sentence),
    ]
    terminal().print(facts(rows))
    return 0


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value or MISSING)


def _print_endpoints(endpoints: Sequence[JudgeEndpoint]) -> None:
    from rubricweb.api.endpoints.schemas import Endpoint

    for shown in Endpoint.of_all(endpoints):
        print_shape(Endpoint, shown)
