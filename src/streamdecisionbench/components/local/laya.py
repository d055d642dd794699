"""`laya:` — a Laya checkpoint in this process, read out as its own package does, nothing generated.

The package `laya` loads the checkpoint and applies the calibration that was released with it. As in the
paper, a sequence may have 8,192 tokens and the part of it that holds a question 1,024. The package cuts
what is longer, a state as well as an option, and continues. `sdb` refuses such input before the first state.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Size,
    Usage,
)
from streamdecisionbench.components.local.gguf import positive
from streamdecisionbench.components.local.weights import folder_sha256
from streamdecisionbench.components.providers.address_and_key import refuse, versions
from streamdecisionbench.errors import InputError

_MAX_LEN, _HEAD_LEN = 8192, 1024
_CONFIG = "rl_agent_config.json"


class Laya:
    """One model, one thread: requests wait for each other, the event loop for none of them."""

    def __init__(self, model: str, options: Options) -> None:
        import laya  # noqa: F401 - tell at once when the package is missing

        refuse(options, "laya", "effort", "base_url", allowed=("device", "max_len", "head_max_len"))
        self._source = model
        self._max_len = positive(options, "max_len", _MAX_LEN)
        self._head_len = positive(options, "head_max_len", _HEAD_LEN)
        self._device = options.extra.get("device")
        self._worker: ThreadPoolExecutor | None = None
        self._agent: Any = None
        self._heads: tuple[Mapping[str, Any], int, str] | None = None
        folder = Path(model).expanduser()
        local = _is_path(model)
        if local and not (folder / _CONFIG).is_file():
            raise InputError(
                f"is no folder of a Laya checkpoint: it has no {_CONFIG}",
                where=folder,
                fix="name a folder that laya-train wrote, or a released checkpoint such as english",
            )
        name = folder.resolve().name if local else model
        self.info = ComponentInfo(
            provider="laya",
            model=name,
            settings={
                "checkpoint": name,
                "sha256": folder_sha256(folder, _files(folder)) if local else None,
                "max_len": self._max_len,
                "head_max_len": self._head_len,
                "calibration": "as released with the checkpoint",
                "device": self._device or "auto",
            },
            in_process=True,
            versions=versions("laya", "torch", "transformers"),
        )

    async def open(self) -> None:
        """Loads the checkpoint; seconds, and outside the event loop."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="sdb-laya")
        await asyncio.get_running_loop().run_in_executor(self._worker, self._load)

    async def answer(self, request: Request) -> Answer:
        if self._worker is None:
            await self.open()
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._answer, request)

    async def size(self, request: Request) -> Size | None:
        """The longest row of a state, one per question, by the checkpoint's own tokenizer."""
        if self._worker is None:
            await self.open()
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._size, request)

    async def close(self) -> None:
        if self._worker is not None:
            worker, self._worker = self._worker, None
            await asyncio.get_running_loop().run_in_executor(worker, setattr, self, "_agent", None)
            worker.shutdown()

    def _load(self) -> None:
        if self._agent is not None:
            return
        import laya

        with contextlib.suppress(Exception):
            self._agent = laya.load(self._source, device=self._device)
        if self._agent is None:
            raise Fatal(
                "model_load",
                f"the package laya cannot load {self.info.model}",
                fix="check that the checkpoint is complete and was written for this version of laya",
            )

    def _answer(self, request: Request) -> Answer:
        reply = self._agent.system_one(
            dict(request.state),
            dict(request.questions),
            max_len=self._max_len,
            head_max_len=self._head_len,
        )
        received_at = time.monotonic()
        answers, used = reply["answers"], reply["usage"]
        if used.get("truncated") or used.get("options"):
            raise Fatal(
                "truncated_input",
                f"{self.info.model} did not see the whole request",
                fix="raise --option max_len or head_max_len; requests are never cut",
            )
        return Answer(
            labels={name: answer["choice"] for name, answer in answers.items()},
            model=self.info.model,
            usage=Usage(input_tokens=int(used["input_tokens"]), cached_tokens=0),
            probabilities={name: answer["probabilities"] for name, answer in answers.items()},
            confidence={name: answer["confidence"] for name, answer in answers.items()},
            received_at=received_at,
            diagnostics={
                "state_tokens": used["state_tokens"],
                "device": str(self._agent.device),
                "dtype": str(self._agent.dtype_for(len(answers))),
                "revision": str(getattr(self._agent, "revision", None) or "not told"),
            },
        )

    def _size(self, request: Request) -> Size:
        from laya.common import encode_text, serialize_state

        tok = self._agent.tok
        if self._heads is None or self._heads[0] is not request.questions:
            self._heads = (request.questions, *self._longest_head(request.questions))
        _, head, problem = self._heads
        text = serialize_state(dict(request.state)).replace(tok.mask_token, " ")
        state = len(encode_text(tok, text, add_special_tokens=False)["input_ids"])
        positions = getattr(self._agent.model.encoder.config, "max_position_embeddings", None)
        context = min(self._max_len, positions or self._max_len)
        return Size(head + state + 1, context, "laya", problem)

    def _longest_head(self, questions: Mapping[str, Any]) -> tuple[int, str]:
        """Tokens of the longest question with its options as the package lays them out, and what it cuts."""
        from laya.common import build_head, encode_text, render_options
        from laya.train import to_internal

        tok, longest, problem = self._agent.tok, 0, ""

        def count(text: str) -> int:
            plain = text.replace(tok.mask_token, " ")
            return len(encode_text(tok, plain, add_special_tokens=False)["input_ids"])

        for name, question in questions.items():
            asked = to_internal(name, question)
            laid_out = len(build_head(tok, asked, self._head_len)[0])
            # Three signs around instructions and options, one before every option.
            options = sum(1 + count(f" {text}") for text in render_options(asked))
            whole = 3 + count(f"{asked['t']} question: {asked['ins']}") + options
            if laid_out < whole and not problem:
                problem = (
                    f"instructions and options of {name} have {whole:,} tokens, and the package keeps"
                    f" {laid_out:,} (head_max_len {self._head_len:,}, 48 for each option)"
                )
            longest = max(longest, laid_out)
        return longest, problem


def _is_path(model: str) -> bool:
    """As the package tells a folder from the name of a released checkpoint."""
    folder = Path(model).expanduser()
    return model.startswith((".", "~", "/")) or (folder / _CONFIG).is_file() or folder.is_dir()


def _files(folder: Path) -> list[str]:
    """The facts that decide answers: weights, settings, tokenizer."""
    found = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    return [name for name in found if name.endswith((".safetensors", ".json", ".txt", ".model"))]
