"""Sources that declare the calls themselves: they compile after the headers of their system, and call ours."""
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CC, CXX = os.environ.get("CC", "cc").split(), os.environ.get("CXX", "c++").split()
C = ("gnu89", "c99")
CXX_TOO = C + ("gnu2x", "c++17")

# What the source is compiled with where it has no header: the pkg-config files' no_header.
with open(os.path.join(TOP, "cmake", "package.cmake")) as cmake:
    NO_HEADER = dict(re.findall(r'set\(no_header_(\w+) "(.*)"\)', cmake.read()))

HEADERS = {
    "svr4": "unistd.h mon.h", "hpux": "time.h unistd.h mon.h", "bsd": "unistd.h sys/gmon.h monitor.h",
    "tru64": "unistd.h sys/resource.h mon.h", "aix": "mon.h unistd.h", "glibc": "unistd.h sys/gmon.h",
    "irix": "unistd.h sys/profil.h",
}
STRUCTURES = [
    ("aix", "monglobal", "mon.h"), ("aix", "prof", "mon.h"), ("aix", "frag", "mon.h"), ("tru64", "monitor_args", "mon.h"),
    ("tru64", "profil_args", "unistd.h"), ("hpux", "prof", "sys/profil.h"), ("hpux", "text_region", "mon.h"),
    ("irix", "prof", "sys/profil.h"), ("glibc", "prof", "sys/profil.h"),
]
PROFIL = "unsigned short *buff, unsigned int bufsiz, unsigned int offset, unsigned int scale"
CALLS = {
    "profil": "profil(0, 0, 0, 0)", "monitor": "monitor(0)", "monstartup": "monstartup(0, 0)", "moncontrol": "moncontrol(0)",
}
FIVE = "monitor(0, 0, 0, 0, 0)"

# What such a source declares and defines itself, of the names that the systems' headers have.
OLD_NAMES = """extern char *sbrk(), *ctime(), *getcwd(), *malloc();
extern write(), creat(), lseek();
long time();
static link() { return 0; }
static select(buffer) char *buffer; { return buffer != 0; }
"""
OLD_TYPES = """typedef char WORD;
struct hdr { int head; };
struct cnt { int count; };
struct prof { int calls; };
struct frag { int piece; };
struct tostruct { int callee; };
struct gmonparam { int profiling; };
typedef unsigned size_t;
typedef int caddr_t;
"""
OLD_CALLS = "void f() { %s; sbrk(0); write(1, \"\", 0); link(); }\n"

# The prototypes that each system has itself, and those of others that sources bring for it.
AS_WITH_THE_HEADER = [
    ("glibc", "void monstartup(unsigned long lowpc, unsigned long highpc);", "monstartup"),
    ("glibc", "void moncontrol(int);", "moncontrol"),
    ("glibc", "int profil(unsigned short *, size_t, size_t, unsigned int);", "profil"),
    ("bsd", "void monstartup(unsigned long lowpc, unsigned long highpc);", "monstartup"),
    ("bsd", "void moncontrol(int);", "moncontrol"),
    ("bsd", "int profil(char *, size_t, unsigned long, unsigned int);", "profil"),
    ("hpux", "void profil(unsigned short *buff, size_t bufsiz, size_t offset, unsigned int scale);", "profil"),
    ("aix", "int moncontrol(int mode);", "moncontrol"),
]
AS_THE_SOURCE_DECLARES = [
    ("svr4", f"void profil({PROFIL});", "profil(0, 0, 0, 0)"),
    ("svr4", "int profil(short *, int, void (*)(void), int);", "profil(0, 0, 0, 0)"),
    ("svr4", "void monitor(int (*lowpc)(void), int (*highpc)(void), unsigned short *, size_t, size_t);", FIVE),
    ("hpux", "int profil(short *, int, void (*)(void), int);", "profil(0, 0, 0, 0)"),
    ("hpux", "void monitor(void (*lowpc)(void), void (*highpc)(void), WORD *buffer, int bufsize, int nfunc);", FIVE),
    ("bsd", "void monitor(int (*)(void), int (*)(void), short *, int, int);", FIVE),
    ("bsd", "void monstartup(char *, char *);", "monstartup(0, 0)"),
    ("tru64", "void profil(unsigned short *, unsigned int, void *, unsigned int);", "profil(0, 0, 0, 0)"),
    ("tru64", "int monstartup(char *, char *);", "monstartup(0, 0)"),
    ("aix", "void profil(unsigned short *, unsigned int, unsigned long, unsigned int);", "profil(0, 0, 0, 0)"),
    ("irix", f"int profil({PROFIL});", "profil(0, 0, 0, 0)"),
    ("aix", "int monstartup(caddr_t, caddr_t);", "monstartup(0, 0)"),
    ("glibc", "void monstartup(char *, char *);", "monstartup(0, 0)"),
]

# Pointers where the prototypes of the pages have numbers, and buffers of other types: since GCC 14 and Clang 15 errors.
CLANGS = [path for path in (shutil.which(f"clang-{version}") for version in range(15, 30)) if path]
UNCAST = """#include <%s>
static char chars[64];
static unsigned short shorts[32];
static char *low;
extern int start();
void f(void) { profil(chars, sizeof chars, start, 0x8000); profil(shorts, sizeof shorts, low, 0x8000); profil(0, 0, 0, 0); }
"""
UNCAST_MEMBERS = """#include <%s>
static char chars[64];
extern int start(), number;
void f(void) { %s }
"""
MEMBERS = [
    ("hpux", "sys/profil.h", "struct prof p; p.pr_offset = number; sprofil(&p, 1, 0, PROF_UINT);", "sprofil"),
    ("irix", "sys/profil.h", "struct prof p; p.pr_off = start; sprofil(&p, 1, 0, PROF_UINT);", "sprofil"),
    ("aix", "mon.h", "struct prof p; p.p_low = start; p.p_high = number; p.p_buff = chars; profil(&p, -1, 0, 0);", "profil"),
    ("tru64", "sys/resource.h", "struct profil_args p; p.lowpc = number; p.buffer = chars; profil(&p, 1, -1, 0);", "profil"),
    ("n64", "ultra64.h", "OSProf p; p.text_start = start; p.text_end = number; p.histo_base = chars; osProfileInit(&p, 1);", "osProfileInit"),
]

# The names of functions by the types that their pages give: what is pointed to is ours, and so is what (name)(...) calls.
AS_A_POINTER = [
    ("aix", "mon.h", "profil", "int (*%s)(unsigned short *, unsigned int, unsigned long, unsigned int)"),
    ("aix", "mon.h", "monitor", "int (*%s)(caddr_t, caddr_t, HISTCOUNTER *, int, int)"),
    ("aix", "mon.h", "monstartup", "int (*%s)(caddr_t, caddr_t)"),
    ("aix", "mon.h", "moncontrol", "int (*%s)(int)"),
    ("tru64", "unistd.h", "profil", "void (*%s)(unsigned short *, unsigned int, void *, unsigned int)"),
    ("tru64", "mon.h", "monitor", "int (*%s)(long, long, void *, long, long)"),
    ("tru64", "mon.h", "monstartup", "int (*%s)(void *, void *)"),
    ("tru64", "mon.h", "moncontrol", "int (*%s)(int)"),
    ("svr4", "mon.h", "monitor", "void (*%s)(int (*)(void), int (*)(void), WORD *, size_t, size_t)"),
    ("hpux", "mon.h", "monitor", "void (*%s)(void (*)(void), void (*)(void), WORD *, int, int)"),
    ("bsd", "monitor.h", "monitor", "void (*%s)(int (*)(void), int (*)(void), short *, int, int)"),
]

# HP-UX: what the source sees is 0 if the call is ours by each way of calling it.
SYSCONF_PROGRAM = """#include <unistd.h>
%s
static long (*by_pointer)(int) = sysconf;
int main(void) {
  if (sysconf(_SC_PROFIL_MAX) != 1024 || (sysconf)(_SC_PROFIL_MAX) != 1024) return 1;
  if (by_pointer(_SC_PROFIL_MAX) != 1024 || (*&sysconf)(_SC_PROFIL_MAX) != 1024) return 2;
  return sysconf(_SC_PAGESIZE) < 512 || by_pointer(_SC_PAGESIZE) != sysconf(_SC_PAGESIZE) || sysconf(-1) != -1 ? 3 : 0;
}
"""
CLOCK_PROGRAM = """#include <%s>
char a_hundred[CLK_TICK == 100 && CLK_TCK == 100 ? 1 : -1];
int main(void) { return CLK_TICK - CLK_TCK; }
"""

# The header itself defines this one, so that a program of it shows whose is called.
GETSYSINFO = "int getsysinfo(unsigned long, char *, unsigned long, int *, void *, unsigned long);"
GETSYSINFO_PROGRAM = """#include <sys/sysinfo.h>
%s
int main(void) { %s return 0; }
"""
# A call of it, after which nothing else is to have changed.
GETSYSINFO_CALL = "{ int ticks = 0, start = 0; %s; if (ticks != 1024 || start) return %d; }"


def calls_of(system):
    """Those that the headers of the system declare."""
    if system == "bsd":
        return list(CALLS)
    names = {"svr4": "profil monitor", "hpux": "profil monitor", "glibc": "profil monstartup moncontrol", "irix": "profil"}
    return names.get(system, " ".join(CALLS)).split()


def called_by(path):
    """The functions that an object file lacks. nm would read the compiler's plugin first, which takes thirty times as long."""
    listing = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r" UND (\w+)$", listing, re.MULTILINE)) - {"_GLOBAL_OFFSET_TABLE_"}


class Declarations(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = directory.name

    def compile(self, system, standard, source, flags):
        """What the compiler makes of it; its words if it refuses the source."""
        is_cxx = "++" in standard
        path = os.path.join(self.work, "source.cc" if is_cxx else "source.c")
        with open(path, "w") as file:
            file.write(source)
        include = os.path.join(TOP, "include", "pctally", "compat", system)
        command = [*(CXX if is_cxx else CC), f"-std={standard}", "-w", "-isystem", include, path, "-o", path + ".o", *flags]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        return path, done.stderr if done.returncode != 0 else ""

    def symbols(self, system, standard, source, flags):
        """The functions that the object calls; the compiler's words if it refuses the source."""
        path, refusal = self.compile(system, standard, source, [*flags, "-c"])
        if refusal:
            return refusal
        return called_by(path + ".o")

    def check(self, system, declarations, calls, headers, standards, flags=()):
        """The calls, after the declarations, go to ours of that system and to nothing else."""
        lines = [f"#include <{header}>" for header in headers.split()] + ["#include <stddef.h>"]
        body = " ".join(call + ";" for call in calls)
        for standard in standards:
            language = 'extern "C" ' if "++" in standard else "extern "
            source = "\n".join([*lines, *(language + line for line in declarations), f"void f(void) {{ {body} }}", ""])
            with self.subTest(system=system, standard=standard, declarations=declarations, flags=flags):
                expected = {f"pctally_{system}_" + call.split("(")[0] for call in calls}
                self.assertEqual(self.symbols(system, standard, source, flags), expected)

    def check_without_arguments(self, system, names, headers, flags=()):
        for result in ("int", "void"):
            self.check(system, [f"{result} {name}();" for name in names], [CALLS[name] for name in names], headers, CXX_TOO, flags)

    def test_without_arguments_after_the_headers(self):
        for system, headers in HEADERS.items():
            self.check_without_arguments(system, calls_of(system), headers)

    def test_without_arguments_and_without_a_header(self):
        for system, flags in NO_HEADER.items():
            self.check_without_arguments(system, calls_of(system), "", flags.split())

    def test_without_a_header_other_names_are_the_source_s(self):
        for system, flags in NO_HEADER.items():
            calls = [CALLS[name] for name in calls_of(system)]
            source = OLD_NAMES + OLD_TYPES + OLD_CALLS % "; ".join(calls)
            for standard in ("gnu89", "gnu11"):
                with self.subTest(system=system, standard=standard):
                    self.assertEqual(self.symbols(system, standard, source, flags.split()),
                                     {f"pctally_{system}_{name}" for name in calls_of(system)} | {"sbrk", "write"})

    def test_the_headers_behind_the_flags_of_sources_without(self):
        for system, flags in NO_HEADER.items():
            for headers in (HEADERS[system], "sys/gmon.h unistd.h time.h", "time.h unistd.h"):
                calls = [CALLS[name] for name in calls_of(system)]
                self.check(system, [], calls, headers, CXX_TOO, flags.split())

    def test_the_headers_behind_the_flags_of_sources_without_by_clang(self):
        """It refuses what g++ takes: a second declaration with another exception specification."""
        for compiler in filter(os.path.exists, (path.replace("clang-", "clang++-") for path in CLANGS)):
            for system, flags in NO_HEADER.items():
                include = os.path.join(TOP, "include", "pctally", "compat", system)
                source = "".join(f"#include <{header}>\n" for header in HEADERS[system].split())
                command = [compiler, "-std=c++17", "-fsyntax-only", "-isystem", include, *flags.split(), "-x", "c++", "-"]
                with self.subTest(compiler=compiler, system=system):
                    done = subprocess.run(command, input=source, stderr=subprocess.PIPE, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_prototype_of_the_system(self):
        for system, declaration, name in AS_WITH_THE_HEADER:
            # In C23 there is no declaration for numbers and pointers: it is a macro.
            standards = C + ("c++17",) if (system, name) == ("bsd", "monstartup") else CXX_TOO
            self.check(system, [declaration], [CALLS[name]], HEADERS[system], standards)

    def test_any_prototype_where_the_source_declares(self):
        for system, declaration, call in AS_THE_SOURCE_DECLARES:
            self.check(system, [declaration], [call], HEADERS[system], ("gnu89", "c++17"), ("-DPCTALLY_SOURCE_DECLARES",))

    def test_aix_profil_as_the_void_of_its_page_where_the_source_declares(self):
        """Uses that need void do not compile with the header's int."""
        declaration = "void profil(unsigned short *, unsigned int, unsigned long, unsigned int);"
        uses = "void f(unsigned short *b) { return profil(b, 0, 0, 0); }\nvoid g(int on) { on ? profil(0, 0, 0, 2) : (void)0; }\n"
        for standard in CXX_TOO:
            source = "#include <mon.h>\n" + ('extern "C" ' if "++" in standard else "extern ") + declaration + "\n" + uses
            with self.subTest(standard=standard):
                self.assertEqual(self.symbols("aix", standard, source, ["-DPCTALLY_SOURCE_DECLARES"]), {"pctally_aix_profil"})

    def test_glibc_s_second_name_of_monstartup(self):
        define, include = "#define monstartup __monstartup", "#include <sys/gmon.h>"
        call, second = "void f(void) { monstartup(0, 0); }", "void f(void) { __monstartup(0, 0); }"
        prototype = "void __monstartup(unsigned long, unsigned long);"
        for flags, standards, *lines in (
                ((), CXX_TOO, include, second), ((), CXX_TOO, define, include, call), ((), CXX_TOO, include, define, call),
                ((), CXX_TOO, include, "extern void __monstartup();", second), ((), CXX_TOO, include, prototype, second),
                (("-DPCTALLY_SOURCE_DECLARES",), ("gnu89", "c++17"), include, prototype.replace("unsigned long", "char *"), second)):
            for standard in standards:
                cxx = "++" in standard
                source = "\n".join('extern "C" ' + line.replace("extern ", "") if cxx and line.endswith(");") else line for line in lines)
                with self.subTest(standard=standard, source=source, flags=flags):
                    self.assertEqual(self.symbols("glibc", standard, source + "\n", flags), {"pctally_glibc_monstartup"})

    def test_the_c_library_s_headers_before_and_after(self):
        """They declare the C library's profil and monstartup, whatever the order."""
        declarations = ["void profil(unsigned short *, unsigned int, unsigned long, unsigned int);", "int monstartup(char *, char *);"]
        for system in ("aix", "tru64"):
            for headers in itertools.permutations(("unistd.h", "sys/gmon.h", "mon.h")):
                self.check(system, declarations, ["profil(0, 0, 0, 0)", "monstartup(0, 0)"], " ".join(headers), ("gnu89", "c++17"),
                           ("-DPCTALLY_SOURCE_DECLARES",))

    def test_structures_that_both_headers_have_are_laid_out_alike(self):
        """The library's, and those of the systems' headers: every member."""
        for system, theirs, header in STRUCTURES:
            with open(os.path.join(TOP, "include", "pctally", system + ".h")) as file:
                body = re.search(rf"struct pctally_{system}_{theirs} {{(.*?)}};", file.read(), re.DOTALL).group(1)
            members = re.findall(r"(\w+)[,;]", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))
            source = f'#include <{header}>\n#include <stddef.h>\n#include "pctally/{system}.h"\n'
            source += f'_Static_assert(sizeof(struct pctally_{system}_{theirs}) == sizeof(struct {theirs}), "size");\n'
            for member in members:
                for what in (f"offsetof(struct %s, {member})", f"sizeof ((struct %s *)0)->{member}"):
                    source += f'_Static_assert({what % f"pctally_{system}_{theirs}"} == {what % theirs}, "{member}");\n'
            with self.subTest(system=system, theirs=theirs):
                self.assertGreater(len(members), 1)
                self.assertEqual(self.compile(system, "gnu11", source, ["-c", "-I" + os.path.join(TOP, "include")])[1], "")

    def test_both_headers_of_a_system_agree_where_a_long_and_a_pointer_are_other_types(self):
        flags = ["-c", "-m32", "-I" + os.path.join(TOP, "include")]
        if self.compile("aix", "gnu11", "#include <unistd.h>\n", flags)[1]:
            self.skipTest("no compiler for 32 bits")
        for system, headers in HEADERS.items():
            source = "".join(f"#include <{header}>\n" for header in headers.split()) + f'#include "pctally/{system}.h"\n'
            with self.subTest(system=system):
                self.assertEqual(self.compile(system, "gnu11", source, flags)[1], "")

    def check_getsysinfo(self, standards, declaration, calls, flags=()):
        body = " ".join(GETSYSINFO_CALL % (call, number) for number, call in enumerate(calls, 1))
        for standard in standards:
            language = 'extern "C" ' if "++" in standard else "extern "
            source = GETSYSINFO_PROGRAM % (language + declaration if declaration else "", body)
            with self.subTest(standard=standard, declaration=declaration, calls=calls, flags=flags):
                path, refusal = self.compile("tru64", standard, source, flags)
                self.assertEqual(refusal, "")
                self.assertEqual(subprocess.run([path + ".o"]).returncode, 0, "the number of the call")

    def test_getsysinfo_declared_and_called_with_three_to_six_arguments(self):
        every = ["GSI_CLK_TCK", "(char *)&ticks", "sizeof ticks", "&start", "(void *)0", "0"]
        self.check_getsysinfo(C + ("c++17",), GETSYSINFO, [f"getsysinfo({', '.join(every)})"])
        calls = ["getsysinfo(" + ", ".join([every[0], buffer, *every[2:count]]) + ")"
                 for count in range(3, 7) for buffer in ("(char *)&ticks", "&ticks")]
        for declaration in ("", "int getsysinfo();"):
            self.check_getsysinfo(CXX_TOO, declaration, calls)

    def test_getsysinfo_where_the_source_declares(self):
        for declaration in (GETSYSINFO, "void getsysinfo(long op, void *buffer, int bytes, int *start, char *arg, long flag);"):
            self.check_getsysinfo(CXX_TOO, declaration, ["getsysinfo(GSI_CLK_TCK, (char *)&ticks, 4, &start, 0, 0)"],
                                  ("-DPCTALLY_SOURCE_DECLARES",))

    def test_calls_without_a_declaration_where_the_source_declares(self):
        for system, headers in HEADERS.items():
            self.check(system, [], [CALLS["profil"]], headers, ("gnu89",), ("-DPCTALLY_SOURCE_DECLARES",))

    def check_uncast(self, system, call, source):
        path, include = os.path.join(self.work, "source.c"), os.path.join(TOP, "include", "pctally", "compat", system)
        with open(path, "w") as file:
            file.write(source)
        for compiler in (CC, *([clang] for clang in CLANGS)):
            for standard in (*C, "gnu2x"):
                with self.subTest(system=system, call=call, compiler=compiler, standard=standard):
                    command = [*compiler, f"-std={standard}", "-w", "-isystem", include, "-c", path, "-o", path + ".o"]
                    self.assertEqual(subprocess.run(command, stderr=subprocess.PIPE, text=True).stderr, "")
                    self.assertIn(call if system == "n64" else f"pctally_{system}_{call}", called_by(path + ".o"))

    def test_pointers_for_numbers_and_buffers_of_other_types(self):
        headers = {"svr4": "unistd.h", "hpux": "time.h", "bsd": "unistd.h", "tru64": "unistd.h", "aix": "mon.h",
                   "irix": "sys/profil.h"}
        for system, header in headers.items():
            self.check_uncast(system, "profil", UNCAST % header)
        for system, header, statements, call in MEMBERS:
            self.check_uncast(system, call, UNCAST_MEMBERS % (header, statements))

    def test_the_names_stand_for_functions(self):
        """After a declaration without arguments, too."""
        for system, header, name, pointer in AS_A_POINTER:
            arguments = ", ".join("0" * (pointer.count(",") + 1))
            uses = [f"{pointer % 'p'} = {name};", f"{pointer % 'q'} = &{name};", f"void f(void) {{ ({name})({arguments}); }}"]
            for declaration in ("", f"{pointer.split()[0]} {name}();"):
                for standard in CXX_TOO:
                    language = 'extern "C" ' if "++" in standard else "extern "
                    source = "\n".join([f"#include <{header}>", language + declaration if declaration else "", *uses, ""])
                    with self.subTest(system=system, standard=standard, declaration=declaration, name=name):
                        self.assertEqual(self.symbols(system, standard, source, ()), {f"pctally_{system}_{name}"})

    def test_without_a_header_the_name_monitor_is_the_source_s(self):
        for system, flags in NO_HEADER.items():
            if "monitor" in calls_of(system):
                source = "static int monitor = 1;\nint f() { profil(0, 0, 0, 0); return monitor; }\n"
                with self.subTest(system=system):
                    self.assertEqual(self.symbols(system, "gnu89", source, flags.split()), {f"pctally_{system}_profil"})

    def check_program(self, standard, source, flags=()):
        """An HP-UX program, which returns 0. It is not linked with the library."""
        with self.subTest(standard=standard, source=source, flags=flags):
            path, refusal = self.compile("hpux", standard, source, flags)
            self.assertEqual(refusal, "")
            self.assertEqual(subprocess.run([path + ".o"]).returncode, 0)

    def test_hp_ux_sysconf_of_profil_max_by_every_way_of_calling_it(self):
        """The page: greater than sysconf(_SC_PROFIL_MAX)."""
        for standard in CXX_TOO:
            language = 'extern "C" ' if "++" in standard else "extern "
            for declaration in ("", language + "long sysconf(int);"):
                self.check_program(standard, SYSCONF_PROGRAM % declaration)
        for standard in C:
            self.check_program(standard, SYSCONF_PROGRAM % "extern long sysconf();")

    def test_hp_ux_clk_tick_times_per_second(self):
        """The page: each clock tick (CLK_TICK times per second). That of profil(2) has CLK_TCK."""
        for standard in CXX_TOO:
            for header in ("time.h", "limits.h", "sys/profil.h", "sys/time.h>\n#include <sys/profil.h", "limits.h>\n#include <time.h"):
                self.check_program(standard, CLOCK_PROGRAM % header)
        for headers in ("limits.h>\n#include <time.h", "time.h>\n#include <limits.h"):
            self.check_program("c89", CLOCK_PROGRAM % headers, ("-D_POSIX_SOURCE",))  # the C library has its own there

    def test_hp_ux_limits_h_has_what_the_c_library_s_has(self):
        for standard in CXX_TOO:
            for headers in ("limits.h", "limits.h>\n#include <limits.h", "time.h>\n#include <limits.h"):
                self.check_program(standard, f"#define _GNU_SOURCE\n#include <{headers}>\n"
                                   "int main(void) { return INT_MAX > 0 && PATH_MAX > 255 && _POSIX_SEM_VALUE_MAX > 0 ? 0 : 1; }\n")

    def test_hp_ux_profil_by_the_headers_of_sprofil_s_page(self):
        """A call to profil(2) has the same effect as calling sprofil(): the two headers that the page names bring both."""
        for headers in ("sys/time.h sys/profil.h", "sys/profil.h", "sys/profil.h time.h", "unistd.h sys/profil.h", "sys/profil.h unistd.h"):
            self.check("hpux", [], ["profil(0, 0, 0, 0)", "sprofil(0, 0, 0, 0)"], headers, CXX_TOO)
            self.check("hpux", ["void profil();"], ["profil(0, 0, 0, 0)"], headers, CXX_TOO)

    def test_hp_ux_profil_by_either_header_in_any_order(self):
        for headers in ("time.h", "unistd.h", "time.h unistd.h", "unistd.h time.h", "unistd.h sys/gmon.h time.h", "pthread.h unistd.h"):
            self.check("hpux", [], ["profil(0, 0, 0, 0)"], headers, CXX_TOO)

    def test_irix_profil_by_either_header_in_any_order(self):
        for headers in ("sys/profil.h", "unistd.h", "sys/profil.h unistd.h", "unistd.h sys/profil.h", "pthread.h sys/profil.h"):
            self.check("irix", [], ["profil(0, 0, 0, 0)"], headers, CXX_TOO)

    def test_n64_headers_where_its_kit_has_them(self):
        lines = ["#include <PR/os_debug.h>", "#include <PR/ultraerror.h>",
                 "u32 f(OSProf *profile) { osProfileInit(profile, 1); return ERR_OSPROFILEINIT_STR; }", ""]
        for standard in CXX_TOO:
            for first in (0, 1):
                with self.subTest(standard=standard, first=first):
                    source = "\n".join(lines if first == 0 else [lines[1], lines[0], *lines[2:]])
                    self.assertEqual(self.symbols("n64", standard, source, ()), {"osProfileInit"})

    def test_n64_headers_of_older_kits(self):
        for standard in CXX_TOO:
            for header in ("ultra64.h", "PR/os.h", "os.h"):
                source = f"#include <PR/ultratypes.h>\n#include <{header}>\nvoid f(OSProf *profile, u32 n) {{ osProfileInit(profile, n); }}\n"
                with self.subTest(standard=standard, header=header):
                    self.assertEqual(self.symbols("n64", standard, source, ()), {"osProfileInit"})

    def test_irix_profil_header_brings_the_types_of_sys_types_h(self):
        for standard in CXX_TOO:
            with self.subTest(standard=standard):
                self.assertEqual(self.compile("irix", standard, "#include <sys/profil.h>\npid_t parent; off_t place;\n", ["-c"])[1], "")

    def test_hp_ux_time_h_leaves_the_names_of_unistd_h_to_the_source(self):
        source = "#include <time.h>\nstatic void *link(void *a, long b) { return b ? a : 0; }\nvoid *f(void) { return link(0, 1); }\n"
        for standard in CXX_TOO[:-1]:  # in C++ every header of the C++ library brings them
            with self.subTest(standard=standard):
                self.assertEqual(self.compile("hpux", standard, source, ["-c"])[1], "")

    def test_a_number_of_32_bits_becomes_one_of_64(self):
        """-1 of an int is -1 of a long to the calls that ask for an address."""
        for system, call in (("aix", "monstartup(-1, 0)"), ("tru64", "profil(0, 1, -1, 0)"), ("tru64", "monitor(-1, 0, 0, 1, 0)")):
            self.check(system, ["int " + call.split("(")[0] + "();"], [call], HEADERS[system], ("c++17", "gnu89"))
            path = os.path.join(self.work, "source.c")
            code = subprocess.run([*CC, "-E", "-P", "-std=gnu89", "-isystem", os.path.join(TOP, "include/pctally/compat", system), path],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertRegex(code, rf"pctally_{system}_\w+\(.*long\)\(-1\)")


if __name__ == "__main__":
    unittest.main()
