"""What the host of a virtual machine takes of its CPU time: the kernel charges programs for a part of it, and nothing ticks
then. For benchmarks."""
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
