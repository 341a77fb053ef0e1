"""Builds the program whose counters the tests of this folder know to the tick (monitored.c)."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import pctally_test as pt

LIBRARIES = os.path.join(pt.BUILD, "lib")


def build(name, *options):
    program = os.path.join(pt.scratch(), name)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-fno-toplevel-reorder", *options,
                    "-I" + os.path.join(HERE, "..", "..", "include"), os.path.join(HERE, "monitored.c"), "-o", program,
                    "-L" + LIBRARIES, "-Wl,-rpath," + LIBRARIES, "-lpctally"], check=True)
    return program


def build_movable():
    return build("movable", "-pie", "-fpie")


def build_fixed():
    return build("fixed", "-no-pie", "-fno-pie")


def directory_of(test):
    """A new one."""
    directory = os.path.join(pt.scratch(), test.id().rsplit(".", 1)[1])
    os.makedirs(directory)
    return directory
