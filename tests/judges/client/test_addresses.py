"""Which addresses may be called: hostile URLs, lying resolvers, redirects."""

import asyncio
import socket

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver

from rubricweb.judges.client.addresses import BlockedAddress, check_address, check_url
from rubricweb.judges.client.guarded_sockets import GuardedResolver, guarded_connector
from rubricweb.judges.client.openai import JudgeClient
from rubricweb.judges.offline.script import Fail, Script

PUBLIC = [
    "https://api.openai.com/v1",
    "http://example.org:8080/v1",
    "https://1.1.1.1/v1",
    "https://[2606:4700::1111]/v1",
    "https://[::ffff:8.8.8.8]/v1",
    "https://bücher.example/v1",
]
HOSTILE = {
    "file:///etc/passwd": "scheme is 'file'",
    "ftp://example.org/": "scheme is 'ftp'",
    "gopher://example.org/": "scheme is 'gopher'",
    "javascript:alert(1)": "scheme is 'javascript'",
    "example.org/v1": "scheme is 'missing'",
    "": "scheme is 'missing'",
    "https://": "no host",
    "https:///v1": "no host",
    "https://user@example.org/": "user name",
    "https://user:secret@example.org/": "user name",
    "https://@example.org/": "user name",
    "https://example.org@169.254.169.254/": "user name",
    "https://example.org\\@127.0.0.1/": "backslash",
    "https://example.org/ v1": "space",
    "https://example.org/\nHost: internal": "space",
    "https://example.org/\x00": "control character",
    "https://example.org/v1?key=1": "query",
    "https://example.org/v1#part": "query or fragment",
    "https://example.org:0/": "port is 0",
    "https://example.org:99999/": "cannot be read",
    "https://[::1/": "cannot be read",
    "http://localhost/": "name of the local network",
    "http://LOCALHOST./": "name of the local network",
    "http://judge.localhost/": "name of the local network",
    "http://printer.local/": "name of the local network",
    "http://metadata.google.internal/": "name of the local network",
    "http://127.0.0.1/": "not a public address",
    "http://127.1/": "not a public address",
    "http://2130706433/": "not a public address",
    "http://0x7f000001/": "not a public address",
    "http://0177.0.0.1/": "not a public address",
    "http://0/": "not a public address",
    "http://10.0.0.1/": "not a public address",
    "http://172.16.0.1/": "not a public address",
    "http://192.168.0.1/": "not a public address",
    "http://100.64.0.1/": "not a public address",
    "http://169.254.0.1/": "not a public address",
    "http://169.254.169.254/latest/meta-data/": "cloud metadata",
    "http://168.63.129.16/": "cloud metadata",
    "http://100.100.100.200/": "cloud metadata",
    "http://224.0.0.1/": "not a public address",
    "http://255.255.255.255/": "not a public address",
    "http://[::1]/": "not a public address",
    "http://[::]/": "not a public address",
    "http://[fe80::1]/": "not a public address",
    "http://[fe80::1%25eth0]/": "not a public address",
    "http://[fc00::1]/": "not a public address",
    "http://[fec0::1]/": "not a public address",
    "http://[ff02::1]/": "not a public address",
    "http://[fd00:ec2::254]/": "cloud metadata",
    "http://[::ffff:127.0.0.1]/": "not a public address",
    "http://[::ffff:10.0.0.1]/": "not a public address",
    "http://[::127.0.0.1]/": "not a public address",
    "http://[64:ff9b::7f00:1]/": "not a public address",
    "http://[64:ff9b::a9fe:a9fe]/": "cloud metadata",
    "http://[64:ff9b:1::1]/": "not a public address",
    "http://[2002:7f00:1::1]/": "not a public address",
    "http://[2001:0:7f00:1::]/": "not a public address",
}


@pytest.mark.parametrize("url", PUBLIC)
def test_public_urls_pass(url):
    check_url(url, allow_private_hosts=False)


@pytest.mark.parametrize(("url", "fault"), HOSTILE.items())
def test_hostile_urls_are_refused_by_name(url, fault):
    with pytest.raises(BlockedAddress, match="allowed") as refused:
        check_url(url, allow_private_hosts=False)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]/", "http://10.1.2.3/"]
)
def test_private_hosts_pass_where_the_operator_allows_them(url):
    check_url(url, allow_private_hosts=True)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://u@localhost/",
        "http://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
    ],
)
def test_allowing_private_hosts_allows_nothing_else(url):
    with pytest.raises(BlockedAddress):
        check_url(url, allow_private_hosts=True)


def test_an_address_that_is_none_is_refused():
    with pytest.raises(BlockedAddress, match="not an IP address"):
        check_address("example.org", allow_private_hosts=True)


class Lying(AbstractResolver):
    """Answers each lookup with the next list of addresses; the last one repeats."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.lookups = 0

    async def resolve(self, host, port=0, family=socket.AF_INET):
        found = self.answers[min(self.lookups, len(self.answers) - 1)]
        self.lookups += 1
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
            for address in found
        ]

    async def close(self):
        pass


def ask_through(resolver, base_url, config, question, *, times=1, **changed):
    """Replies of a client whose names are looked up by this resolver."""
    judge = config(base_url, **({"allow_private_hosts": False} | changed))

    async def run():
        client = JudgeClient(
            judge.base_url, None, allow_private_hosts=judge.allow_private_hosts, resolver=resolver
        )
        try:
            return [await client.ask(judge, question()) for _ in range(times)]
        finally:
            await client.aclose()

    return asyncio.run(run())


def test_a_public_name_with_a_private_address_is_refused(serve, config, question):
    script = Script()
    port = serve(script).split(":")[2]
    (reply,) = ask_through(Lying(["127.0.0.1"]), f"http://judge.example:{port}", config, question)
    assert (reply.error.kind, reply.error.retryable) == ("blocked_address", False)
    assert "judge.example" in reply.error.message
    assert script.count == 0


def test_one_private_address_among_public_ones_refuses_the_name(serve, config, question):
    script = Script()
    port = serve(script).split(":")[2]
    resolver = Lying(["93.184.215.14", "127.0.0.1"])
    (reply,) = ask_through(resolver, f"http://judge.example:{port}", config, question)
    assert reply.error.kind == "blocked_address"
    assert script.count == 0


def test_a_name_that_was_public_when_checked_and_is_private_when_called_is_refused(serve, config, question):
    script = Script()
    port = serve(script).split(":")[2]
    resolver = Lying(["93.184.215.14"], ["127.0.0.1"])
    looked_up = asyncio.run(GuardedResolver(False, resolver).resolve("judge.example"))
    assert [result["host"] for result in looked_up] == ["93.184.215.14"]
    (reply,) = ask_through(resolver, f"http://judge.example:{port}", config, question)
    assert (reply.error.kind, resolver.lookups) == ("blocked_address", 2)
    assert script.count == 0


def test_the_last_door_is_the_socket_itself(serve):
    """Whatever a resolver let through, the connector makes no socket to a refused address."""
    script = Script()
    port = int(serve(script).split(":")[2].split("/")[0])

    async def connect():
        connector = guarded_connector(allow_private_hosts=False)
        connector._resolver = Lying(["127.0.0.1"])  # as if the guard had been talked round
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get(f"http://judge.example:{port}/health")

    with pytest.raises(BlockedAddress):
        asyncio.run(connect())
    assert script.count == 0


def test_the_address_that_was_checked_is_the_one_connected_to(serve, config, question):
    script = Script()
    port = serve(script).split(":")[2].split("/")[0]
    resolver = Lying(["127.0.0.1"], ["127.0.0.9"])
    replies = ask_through(
        resolver, f"http://judge.example:{port}/v1", config, question, times=2, allow_private_hosts=True
    )
    assert [reply.error for reply in replies] == [None, None]
    assert resolver.lookups == 1  # the warm connection is used again


def test_a_literal_private_address_is_refused_at_the_door(serve, config, question):
    script = Script()
    (reply,) = ask_through(None, serve(script), config, question)
    assert reply.error.kind == "blocked_address"
    assert script.count == 0


def test_a_resolver_that_knows_nothing_says_so(config, question):
    class Empty(Lying):
        async def resolve(self, host, port=0, family=socket.AF_INET):
            raise OSError(f"unknown host {host}")

    (reply,) = ask_through(Empty([]), "http://judge.example/v1", config, question, max_attempts=1)
    assert reply.error.kind == "connection"


def test_redirects_are_not_followed(serve, ask):
    inner = Script()
    target = serve(inner)
    outer = Script(Fail(307, headers={"Location": f"{target}/chat/completions"}))
    reply = ask(serve(outer))
    assert (reply.error.kind, inner.count, outer.count) == ("blocked_address", 0, 1)


def test_the_guard_checks_what_its_resolver_says():
    guard = GuardedResolver(False, Lying(["93.184.215.14"], ["::1"]))
    assert asyncio.run(guard.resolve("judge.example"))[0]["host"] == "93.184.215.14"
    with pytest.raises(BlockedAddress, match=r"judge\.example resolves"):
        asyncio.run(guard.resolve("judge.example"))


UNSPELLABLE = {
    "https://a..b/v1": "has an empty label",
    "https://.example.org/v1": "has an empty label",
    "https://example.org../v1": "has an empty label",
    "https://./v1": "has an empty label",
    f"https://{'a' * 64}.example/v1": "holds the label",
    f"https://{'b.' * 130}org/v1": "has 263 characters",
    "https://a,b/v1": "holds the label 'a,b'",
    "https://%41.example/v1": "holds the label '%41'",
    "https://*.example/v1": "holds the label '*'",
    "https://\u200b.example/v1": "cannot be spelled",
    "https://\u2488.example/v1": "cannot be spelled",
    "https://\u2603.example/v1": "cannot be spelled",
    "https://\ud800.example/v1": "cannot be spelled",
    "https://999.1.1.1/v1": "cannot be spelled",
    "https://[v1.x]/v1": "cannot be",
    "https://[2606:4700::1111%25eth0]/v1": "names a zone",
}


@pytest.mark.parametrize("allow_private_hosts", [False, True])
@pytest.mark.parametrize(("url", "fault"), UNSPELLABLE.items())
def test_a_host_no_name_server_could_be_asked_for_is_refused_by_name(url, fault, allow_private_hosts):
    with pytest.raises(BlockedAddress, match="allowed") as refused:
        check_url(url, allow_private_hosts)
    assert fault in str(refused.value)


@pytest.mark.parametrize("url", ["http://127\u30020\u30020\u30021/", "http://localhost\u3002/"])
def test_a_host_is_judged_as_it_is_asked_for_not_only_as_it_is_written(url):
    with pytest.raises(BlockedAddress, match="public"):
        check_url(url, allow_private_hosts=False)


@pytest.mark.parametrize(
    "host", ["a_b.example.org", "example.org.", "xn--bcher-kva.example", "1.2.3.4.example"]
)
def test_what_name_servers_know_passes(host):
    check_url(f"https://{host}/v1", allow_private_hosts=False)


@pytest.mark.parametrize("url", [*UNSPELLABLE, "https://[::1/", "https://example.org:99999/", "not a url"])
def test_a_question_to_an_address_that_cannot_be_called_is_an_error_not_a_wait(ask, url):
    """The address may be older than the rule, or stand in the environment."""
    reply = ask(url, max_attempts=1)
    assert (reply.error.kind, reply.attempts) == ("blocked_address", 1)
