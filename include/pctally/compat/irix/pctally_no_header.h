/* profil(2) of IRIX and no other name, for sources that call it without including a header:
 * cc $(pkg-config --cflags pctally-irix) $(pkg-config --variable=no_header pctally-irix) ... */
#ifndef PCTALLY_COMPAT_IRIX_NO_HEADER_H
#define PCTALLY_COMPAT_IRIX_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../irix_profil.h"

#endif
