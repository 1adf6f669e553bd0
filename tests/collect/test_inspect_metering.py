from __future__ import annotations

from types import SimpleNamespace

from skilldelta.collect.agents.inspect_metering import meter


def test_a_providers_client_may_not_send_again_unseen() -> None:
    async def generate() -> None: ...

    api = SimpleNamespace(client=SimpleNamespace(max_retries=2), generate=generate)
    meter(api, None)
    assert api.client.max_retries == 0
    assert api.generate is not generate
    meter(SimpleNamespace(generate=generate), None)  # a provider without such a client
