"""Finding a provider by the name before the colon: a table of ours, then entry points of others.

Another package adds a provider with an entry point in the group `streamdecisionbench.providers`
whose object is a callable `(model: str, options: Options) -> Component`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata

from streamdecisionbench.components.contract import Component, Options
from streamdecisionbench.errors import InputError, SdbError

ENTRY_POINT_GROUP = "streamdecisionbench.providers"

Factory = Callable[[str, Options], Component]


@dataclass(frozen=True, slots=True)
class Provider:
    """One line of `sdb providers`."""

    factory: str
    what: str
    extra: str = ""
    modules: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """The output of `sdb providers`: names and yes or no, never a value."""

    provider: str
    what: str
    installed: bool
    install: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, bool] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Variables without which it cannot be asked; one of several will do."""
    source: str = "built in"

    @property
    def ready(self) -> bool:
        """Installed, and the key is set if the provider needs one."""
        keyed = any(self.environment.get(name) for name in (*self.needs, "SDB_API_KEY"))
        return self.installed and (not self.needs or keyed)


def _hosted(factory: str, what: str, extra: str, module: str, name: str) -> Provider:
    """A service behind a network, with the variables of its key and of its address."""
    place = f"streamdecisionbench.components.providers.{factory}"
    optional = (f"{name}_BASE_URL", "SDB_API_KEY")
    return Provider(place, what, extra, (module,), (f"{name}_API_KEY",), optional)


_OPENAI = ("openai", "openai", "OPENAI")

PROVIDERS: dict[str, Provider] = {
    "openai": _hosted(
        "openai:OpenAIResponses",
        "OpenAI Responses API, or any server that speaks it (--base-url)",
        *_OPENAI,
    ),
    "openai-decisions": _hosted("openai:OpenAIDecisions", "OpenAI Decisions API", *_OPENAI),
    "systemone": _hosted(
        "systemone:SystemOne",
        "System One API: TypeSafe, or any server that speaks it (--base-url)",
        "typesafe", "typesafe_sdk", "TYPESAFE",
    ),
    "anthropic": _hosted(
        "anthropic:AnthropicMessages",
        "Anthropic Messages API with a forced tool",
        "anthropic", "anthropic", "ANTHROPIC",
    ),
    "chat": _hosted(
        "openai:ChatCompletions",
        "OpenAI-compatible chat completions with a JSON schema (--base-url)",
        *_OPENAI,
    ),
    "gguf": Provider(
        "streamdecisionbench.components.local.gguf:Gguf",
        "a local GGUF file, in process, reading option logits",
        "local",
        ("xllamacpp",),
    ),
    "laya": Provider(
        "streamdecisionbench.components.local.laya:Laya",
        "a Laya checkpoint, in process, with its released calibration",
        "laya",
        ("laya",),
    ),
    "baseline": Provider(
        "streamdecisionbench.components.baseline_component:Baseline",
        "first-option, lexical-overlap, constant, random",
    ),
    "simulated": Provider(
        "streamdecisionbench.components.simulated.simulator:create",
        "a declared profile of latency and accuracy; always labelled a simulation",
    ),
    "python": Provider(
        "streamdecisionbench.components.local.python_class:PythonComponent",
        "your own class: python:module:attribute",
    ),
}  # fmt: skip


_DISTRIBUTIONS = {"typesafe_sdk": "typesafe-sdk"}
"""Where a module's name and its package's name differ."""


def create(name: str, options: Options | None = None) -> Component:
    """The component that `provider:model` names.

    >>> create("baseline:first-option").info.name
    'baseline:first-option'
    """
    provider, separator, model = name.partition(":")
    if not separator or not model:
        raise InputError(
            f"{name!r} does not name a component",
            fix="write provider:model, for example baseline:first-option; `sdb providers` lists them",
        )
    factory = find_factory(provider)
    try:
        return factory(model, options or Options())
    except ModuleNotFoundError as error:
        raise _missing(provider, error) from None


def find_factory(provider: str) -> Factory:
    """The callable behind a provider's name."""
    known = PROVIDERS.get(provider)
    if known is not None:
        module, _, attribute = known.factory.partition(":")
        try:
            factory: Factory = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise _missing(provider, error) from None
        return factory
    entries = {entry.name: entry for entry in _entry_points()}
    if provider in entries:
        try:
            loaded: Factory = entries[provider].load()
        except SdbError:
            raise
        except Exception as error:
            raise InputError(
                f"the provider {provider!r} of another package cannot be loaded "
                f"({type(error).__name__})",
                where=entries[provider].value,
                fix="update or remove that package",
            ) from None
        return loaded
    names = ", ".join(sorted({*PROVIDERS, *entries}))
    raise InputError(f"no provider is called {provider!r}", fix=f"choose one of: {names}")


def own_code(name: str) -> bool:
    """Whether `provider:model` runs code that is not part of this package: a class, or a plug-in.

    >>> own_code("python:rules:Decider"), own_code("baseline:first-option")
    (True, False)
    """
    provider = name.partition(":")[0]
    if provider in PROVIDERS:
        return provider == "python"
    return any(entry.name == provider for entry in _entry_points())


def survey() -> list[ProviderStatus]:
    """Every provider, ours and those of other packages, and what each still needs here."""
    found = []
    for name, provider in PROVIDERS.items():
        missing = [m for m in provider.modules if importlib.util.find_spec(m) is None]
        found.append(
            ProviderStatus(
                provider=name,
                what=provider.what,
                installed=not missing,
                install=_install(provider) if missing else "",
                versions={
                    d: metadata.version(d)
                    for d in (
                        _DISTRIBUTIONS.get(m, m) for m in provider.modules if m not in missing
                    )
                },
                environment={
                    variable: bool(os.environ.get(variable, "").strip())
                    for variable in (*provider.environment, *provider.optional)
                },
                needs=provider.environment,
            )
        )
    for entry in _entry_points():
        if entry.name not in PROVIDERS:
            package = entry.dist.name if entry.dist is not None else entry.value
            found.append(ProviderStatus(entry.name, entry.value, True, source=package))
    return found


def _entry_points() -> metadata.EntryPoints:
    return metadata.entry_points(group=ENTRY_POINT_GROUP)


def _install(provider: Provider) -> str:
    return f"pip install 'streamdecisionbench[{provider.extra}]'"


def _missing(provider: str, error: ModuleNotFoundError) -> Exception:
    """The extra to install; an import of any other package is a bug and is raised unchanged."""
    known = PROVIDERS.get(provider)
    package = (error.name or "").split(".")[0]
    if known is None or package not in known.modules:
        return error
    return InputError(
        f"the provider {provider!r} needs the package {package!r}", fix=_install(known)
    )
