// The subcommands of pctally: one file each, one function each.
#pragma once
#include "recorder/exit_status.h"

namespace pctally {

int run_annotate(int argc, char** argv);
int run_archive(int argc, char** argv);
int run_record(int argc, char** argv);
int run_report(int argc, char** argv);
int run_diff(int argc, char** argv);
int run_engines(int argc, char** argv);
int run_export(int argc, char** argv);
int run_gperf(int argc, char** argv);
int run_merge(int argc, char** argv);
int run_plan(int argc, char** argv);
int run_prof(int argc, char** argv);
int run_snapshot(int argc, char** argv);
int run_top(int argc, char** argv);

}  // namespace pctally
