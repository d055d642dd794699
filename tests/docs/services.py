"""One real server on loopback that speaks every hosted provider's protocol, for any model name."""

from __future__ import annotations

from typing import Any

from tests.components.protocols import (
    ANTHROPIC,
    CHAT,
    DECISIONS,
    OPENAI,
    PROTOCOLS,
    SYSTEMONE,
    Protocol,
)
from tests.components.servers import Received, Reply, ScriptedServer

_BY_PATH: dict[str, Protocol] = {protocol.path: protocol for protocol in PROTOCOLS}


class HostedServer(ScriptedServer):
    """Answers the first label of every question, in the words of the protocol it was asked in."""

    def __init__(self) -> None:
        super().__init__([])

    def next_reply(self, received: Received) -> Reply:
        protocol = _BY_PATH.get(received.path)
        if protocol is None:
            return Reply(status=404)
        options = _options(protocol, received.json)
        labels = {name: offered[0] for name, offered in options.items()}
        spread = {
            name: {label: float(label == offered[0]) for label in offered}
            for name, offered in options.items()
        }
        return Reply(protocol.body(labels, spread))


def _options(protocol: Protocol, body: Any) -> dict[str, list[str]]:
    """Question → labels, from where each protocol carries them."""
    if protocol is SYSTEMONE:
        return {name: list(question["criteria"]) for name, question in body["questions"].items()}
    if protocol is DECISIONS:
        return {
            question["name"]: [choice["value"] for choice in question["choices"]]
            for question in body["questions"]
        }
    schema = {
        OPENAI.path: lambda: body["text"]["format"]["schema"],
        CHAT.path: lambda: body["response_format"]["json_schema"]["schema"],
        ANTHROPIC.path: lambda: body["tools"][0]["input_schema"],
    }[protocol.path]()
    return {name: question["enum"] for name, question in schema["properties"].items()}
