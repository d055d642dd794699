"""A real standalone Spark cluster on loopback: a master and two workers, each a process."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For Java processes of a minute: compiling them thoroughly takes longer than they live."""
NO_JAVA = "no Java found: a Spark cluster needs Java 17 or newer"


def java() -> str | None:
    return shutil.which("java")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """Use it as a context manager. `kill_worker` takes a worker away with its executors."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._count = workers
        self._port, self._web = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self._port}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        ports = ("--port", str(self._port), "--webui-port", str(self._web))
        self._start("master.Master", "--host", "127.0.0.1", *ports)
        self._wait(0)
        for k in range(self._count):
            where = (
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
                "--work-dir",
                f"{self._folder}/{k}",
            )
            self._start("worker.Worker", *where, "--cores", "1", "--memory", "1g", self.master)
        self._wait(self._count)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            self._kill(process)

    def kill_worker(self) -> None:
        self._kill(self._processes.pop())

    def workers(self) -> int:
        """How many the master counts as alive."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._web}/json/", timeout=10) as reply:
            text: bytes = reply.read()
        return text.count(b'"ALIVE"') - 1

    def _start(self, kind: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_JAVA_OPTS": BRIEF,
            "SPARK_WORKER_OPTS": "-Dspark.worker.timeout=5",
        }
        log = (self._folder / f"{kind}.{len(self._processes)}.log").open("wb")
        self._processes.append(
            subprocess.Popen(
                [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
                env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                cwd=self._folder,
            )
        )  # fmt: skip

    def _wait(self, workers: int) -> None:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                if self.workers() >= workers:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"the cluster did not come up; see the logs in {self._folder}")

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
