"""What the host of a virtual machine takes of its CPU time: the kernel charges programs for a part of it, and nothing ticks
then. For tests and benchmarks."""
import os
import time


def stolen_s():
    """Taken since the machine started."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def left_alone(take):
    """take()'s result and whether it may be used: the host took no more than 0.5 % of the time, or 20 ms."""
    began, before = time.monotonic(), stolen_s()
    result = take()
    return result, stolen_s() - before <= 0.005 * (time.monotonic() - began) + 0.02


def wait_for_quiet(patience_s=60):
    """Until the host lets the machine have its CPUs for a second, or for patience_s."""
    end = time.monotonic() + patience_s
    while not left_alone(_busy_second)[1] and time.monotonic() < end:
        time.sleep(1)


def _busy_second():
    children = []
    for _ in range(os.cpu_count()):
        child = os.fork()
        if child == 0:
            until = time.monotonic() + 1
            while time.monotonic() < until:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
