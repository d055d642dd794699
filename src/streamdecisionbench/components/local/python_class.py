"""`python:module:attribute` — a class, an object or a function of the user's own.

It gets a `Request` (`.state`, `.questions`) and returns {question: label} or an `Answer`; plain or
`async`. Plain functions run in threads, so up to 32 may run at once, as with any other component.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Retryable,
)
from streamdecisionbench.components.providers.address_and_key import refuse
from streamdecisionbench.components.redaction import Redactor, cut
from streamdecisionbench.errors import InputError, SdbError

_PACKAGE = Path(__file__).resolve().parent.parent
_THREADS = 32
_LONGEST = 100
"""Characters of a returned value that a message shows."""

Told = TypeVar("Told", bound=SdbError)


class PythonComponent:
    """Wraps what the name leads to; a mistake in it becomes one message with file and line."""

    def __init__(self, name: str, options: Options, *, target: Any = None) -> None:
        """`target` is what the name leads to, for callers that have resolved it already."""
        refuse(options, "python", "base_url", allowed=None)
        self._name = f"python:{name}"
        self._clean = Redactor.at_hand(options=options.extra)
        found = find_target(name) if target is None else target
        self._target = _usable(found, name, options)
        answer = getattr(self._target, "answer", None)
        self._answer: Callable[[Request], Any] = answer if callable(answer) else self._target
        call = getattr(self._answer, "__call__", None)  # noqa: B004 - an object may have an async one
        self._is_async = inspect.iscoroutinefunction(self._answer) or inspect.iscoroutinefunction(
            call
        )
        self._threads: ThreadPoolExecutor | None = None
        own = getattr(self._target, "info", None)
        self.info = (
            own
            if isinstance(own, ComponentInfo)
            else ComponentInfo(
                provider="python",
                model=name,
                settings={"effort": options.effort, "seed": options.seed},
                in_process=True,
                versions=_source(name.partition(":")[0]),
            )
        )

    async def open(self) -> None:
        if not self._is_async and self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="sdb-python")
        await self._bracket("open")

    async def answer(self, request: Request) -> Answer:
        # A copy, so that code which changes what it gets cannot change what is scored.
        state, questions = msgspec.json.decode(
            msgspec.json.encode([request.state, request.questions])
        )
        private = Request(state, questions, request.request_hash)
        return self._read(await self._guarded(lambda: self._call(private)), request.questions)

    async def _call(self, request: Request) -> Any:
        if self._is_async:
            return await self._answer(request)
        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(self._threads, self._in_thread, request)
        if isinstance(result, StopIteration):
            raise user_error(result, self._name)
        return await result if inspect.isawaitable(result) else result

    def _in_thread(self, request: Request) -> Any:
        """A future cannot carry StopIteration: its caller would wait for ever."""
        try:
            return self._answer(request)
        except StopIteration as error:
            return error

    async def close(self) -> None:
        await self._bracket("close")
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    async def _bracket(self, method: str) -> None:
        """`open` and `close` of the user's object, where it has them."""
        function = getattr(self._target, method, None)
        if callable(function):
            await self._guarded(function)

    async def _guarded(self, work: Callable[[], Any]) -> Any:
        """The user's own code; what it raises becomes one message, without the exception itself."""
        try:
            result = work()
            return await result if inspect.isawaitable(result) else result
        except (SdbError, Retryable):
            raise
        except (Exception, SystemExit) as error:
            failure = user_error(error, self._name)
        raise failure

    def _read(self, result: Any, questions: Mapping[str, Any]) -> Answer:
        if isinstance(result, Answer):
            return result
        if isinstance(result, Mapping) and all(
            isinstance(part, str) for pair in result.items() for part in pair
        ):
            return Answer(labels=dict(result), model=self._name)
        raise Fatal(
            "bad_answer",
            f"{self._name} returned {_kind(result, self._clean)}",
            fix=f"return {{question: label}} for every question, or an Answer; {_labels(questions)}",
        )


def find_target(name: str) -> Any:
    """The object that `module:attribute` names; the current folder is searched too."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise InputError(
            f"'python:{name}' names no attribute",
            fix="write python:module:attribute, for example python:my_rules:Decider",
        )
    here = Path.cwd()
    if str(here) not in sys.path and "" not in sys.path:
        # The console script does not look in the current folder by itself. Last, never first: a
        # file there must not stand in for an installed module.
        sys.path.append(str(here))
    target: Any
    try:
        target = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise InputError(
                f"there is no module {module_name!r} here",
                fix="run sdb in the folder of the file, or install its package",
            ) from None
        raise InputError(
            f"{module_name} needs the module {error.name!r}", fix=f"install {error.name}"
        ) from None
    except SyntaxError as error:
        raise _traced(
            InputError(
                "the file is not valid Python", where=f"{_shown(error.filename)}:{error.lineno}"
            ),
            error,
        ) from None
    except (Exception, SystemExit) as error:
        raise _traced(
            InputError(
                f"importing {module_name} raises {type(error).__name__}", where=raised_at(error)
            ),
            error,
        ) from None
    for part in attribute.split("."):
        if not hasattr(target, part):
            other = _is_another(target, module_name, here)
            raise InputError(
                f"{module_name} has no attribute {attribute!r}",
                fix=f"an installed module is called {module_name} too: rename the file"
                if other
                else "check the name",
            )
        target = getattr(target, part)
    return target


def _usable(target: Any, name: str, options: Options) -> Any:
    if inspect.isclass(target):
        target = _instance(target, name, options)
    if not callable(target) and not callable(getattr(target, "answer", None)):
        raise InputError(
            f"python:{name} can neither be called nor has a method `answer`",
            fix="name a function, or a class with `def answer(self, request)`",
        )
    return target


def _source(module: str) -> dict[str, str]:
    """The digest of the user's own file is its version."""
    path = getattr(sys.modules.get(module), "__file__", None)
    try:
        text = Path(path).read_bytes() if path else None
    except OSError:
        text = None
    return {} if text is None else {module: f"sha256:{hashlib.sha256(text).hexdigest()}"}


def _is_another(module: Any, name: str, here: Path) -> bool:
    """Whether a file of this name is in this folder, but another module was imported."""
    beside = [here / f"{name}.py", here / name / "__init__.py"]
    loaded = getattr(module, "__file__", None)
    return any(p.is_file() for p in beside) and not (
        loaded and Path(loaded).resolve().is_relative_to(here.resolve())
    )


def _instance(target: type, name: str, options: Options) -> Any:
    """The class's object; a parameter called `options` receives the command line's."""
    try:
        wants_options = "options" in inspect.signature(target).parameters
    except ValueError:
        wants_options = False
    try:
        return target(options=options) if wants_options else target()
    except SdbError:
        raise
    except (Exception, SystemExit) as error:
        raise _traced(
            InputError(
                f"making an object of python:{name} raises {type(error).__name__}",
                where=raised_at(error),
                fix="the class is called without arguments, or with `options` if it asks for them",
            ),
            error,
        ) from None


def user_error(error: Exception | SystemExit, name: str) -> Fatal:
    """Type and place only: the text of an exception often repeats the data that caused it."""
    return _traced(
        Fatal(
            "python_error",
            f"{raised_at(error)}: {name} raises {type(error).__name__}",
            fix="correct the code there; --debug shows the whole traceback, which may quote the state",
        ),
        error,
    )


def _traced(told: Told, error: BaseException) -> Told:
    """The message, with the user's own part of the traceback kept for `--debug`."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not _is_ours(f.filename) and not f.filename.startswith("<frozen")]
    lines = traceback.format_list(own) + traceback.format_exception_only(error)
    told.trace = "Traceback (most recent call last):\n" + "".join(lines).rstrip("\n")
    return told


def _is_ours(filename: str) -> bool:
    return Path(filename).is_relative_to(_PACKAGE)


def raised_at(error: BaseException) -> str:
    """File and line of the innermost frame that is neither ours nor Python's own."""
    standard = Path(inspect.__file__).parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        ours = _is_ours(frame.filename)
        python = path.is_relative_to(standard) and "site-packages" not in path.parts
        if not (ours or python or frame.filename.startswith("<")):
            return f"{_shown(frame.filename)}:{frame.lineno}"
    return "in the component"


def _shown(filename: str | None) -> str:
    path = Path(filename or "?")
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


def _kind(result: Any, clean: Redactor) -> str:
    if result is None:
        return "nothing"
    try:
        shown = ascii(result)
    except Exception:  # an object of the user's may not even be printable
        shown = "…"
    shown = cut(shown, _LONGEST, clean, "…")
    if isinstance(result, Mapping):
        return f"{shown}, whose keys or values are not text"
    return f"{shown}, a value of type {type(result).__name__}"


def _labels(questions: Mapping[str, Any]) -> str:
    """The labels that may be returned for the first question: enough to see what a label looks like."""
    name, question = next(iter(questions.items()))
    return f"the labels of {name} are {', '.join(question['criteria'])}"
