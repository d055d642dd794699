"""In-force accuracy inside a running service, by the benchmark's definition.

The meter holds the decision in force, so a service that uses it needs less code of its own:

    meter = Meter("recorder")                      # one per service
    with meter.stream("call-7") as call:           # one per session
        step = call.publish(state)                 # new evidence
        applied = call.answer(step, decision)      # newest source wins; call.decision is in force
        call.judge(step, reference)                # whenever known: at once, or minutes later
    meter.seconds()                                # {class: seconds}

Standard library only; exports to monitoring systems are modules of their own.
"""

from streamdecisionbench.kernel.classes import ALL_CLASSES as CLASSES
from streamdecisionbench.meter.counts import Reading
from streamdecisionbench.meter.decision_log import DecisionLog
from streamdecisionbench.meter.meter import Meter
from streamdecisionbench.meter.stream import Notice, Stream

__all__ = ["CLASSES", "DecisionLog", "Meter", "Notice", "Reading", "Stream"]
