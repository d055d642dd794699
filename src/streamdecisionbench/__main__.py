"""`python -m streamdecisionbench`, which is also what the command `sdb` starts."""

# The C module behind `signal`: the latter's enums take longer to import than a finger to press.
import _signal  # type: ignore[import-not-found]

# Until the command line listens, Ctrl-C simply ends the process: there is nothing to lose yet, and
# a traceback from the middle of an import helps nobody.
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from streamdecisionbench.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
