"""Ctrl-C and errors end work that runs in a thread before they go on."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from unjam._kernels import Control
from unjam.search.interrupt import interruptibly


def fail(control: Control) -> None:
    raise ValueError("wrong")


class Work:
    """Goes on until it is cancelled."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = False

    def __call__(self, control: Control) -> None:
        self.began.set()
        while not control.cancelled:
            time.sleep(0.001)
        time.sleep(0.2)
        self.ended = True


def test_what_the_work_returns_or_raises() -> None:
    assert interruptibly(lambda control: control.cancelled) is False
    with pytest.raises(ValueError, match="wrong"):
        interruptibly(fail)


def test_an_interrupt_cancels_the_work_and_waits_for_its_end() -> None:
    work = Work()

    def interrupt() -> None:
        work.began.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        interruptibly(work)
    assert work.ended


AS_IT_ENDS = """
import os, signal, threading
from unjam.search.interrupt import interruptibly

def interrupt(frame, event, function):
    if event == "c_return" and frame.f_code.co_name == "_do" and function.__name__ == "release":
        os.kill(os.getpid(), signal.SIGINT)

threading.setprofile(interrupt)
try:
    interruptibly(lambda control: None)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_just_as_the_work_ends() -> None:
    ran = subprocess.run([sys.executable, "-c", AS_IT_ENDS], capture_output=True, text=True, timeout=20)
    assert ran.stdout == "interrupted\n", ran.stderr


def test_who_watches_sees_the_control_and_may_stop_it() -> None:
    work = Work()
    with pytest.raises(ValueError, match="wrong"):
        interruptibly(work, fail)
    assert work.ended


def test_threads_are_used_again_and_not_by_forked_children() -> None:
    names = {interruptibly(lambda control: threading.get_ident()) for _ in range(50)}
    assert len(names) <= 2
    assert interruptibly(lambda control: interruptibly(lambda control: 7)) == 7
    child = multiprocessing.get_context("fork").Process(target=interruptibly, args=(lambda control: None,))
    child.start()
    child.join(10)
    assert child.exitcode == 0
