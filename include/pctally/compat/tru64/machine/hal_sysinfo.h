/* <machine/hal_sysinfo.h> of Tru64 UNIX: sources that call getsysinfo() include it. Its operations are not
 * here. */
#ifndef PCTALLY_COMPAT_TRU64_MACHINE_HAL_SYSINFO_H
#define PCTALLY_COMPAT_TRU64_MACHINE_HAL_SYSINFO_H

#endif
