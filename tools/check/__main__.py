"""scripts/check: see there. Runs the steps of steps.py one after the other and keeps account of them."""
import argparse
import os
import sys

sys.dont_write_bytecode = True

import record
import steps


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/check", description="Builds and tests everything a change has to pass.")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--quick", action="store_const", const="quick", dest="mode", help="after a small edit: 3 minutes at most")
    modes.add_argument("--all", action="store_const", const="all", dest="mode", help="everything there is: some hours")
    parser.add_argument("--resume", action="store_true", help="leave out steps that passed already on the same sources")
    parser.set_defaults(mode="full")
    return parser.parse_args()


def main():
    asked = arguments()
    kept = record.Record(asked.mode, asked.resume)
    for name, modes, run, *variables in steps.STEPS:
        if asked.mode in modes:
            kept.step(name, run, variables)
    kept.end()
    print(f"\n== summary (build/check/{asked.mode}/summary.md)")
    print("\n".join(kept.lines()))
    for line in kept.closing:
        print(line)
    sys.stdout.flush()
    sys.exit(1 if kept.failed() else 0)


os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
main()
