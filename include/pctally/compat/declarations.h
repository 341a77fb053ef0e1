/* What the headers of all systems need for sources that declare the calls themselves.
 *
 * The calls are macros, most of which cast arguments. PCTALLY_CALL_OR_DECLARE makes `extern int profil();`, a
 * declaration without arguments, one of a name that nobody uses, whatever its type.
 * A declaration with arguments cannot be told from a call. With PCTALLY_SOURCE_DECLARES defined there are no
 * macros and no declarations: the source's own get our names. */
#ifndef PCTALLY_COMPAT_DECLARATIONS_H
#define PCTALLY_COMPAT_DECLARATIONS_H
#pragma GCC system_header /* __VA_OPT__ in every standard */

#define PCTALLY_FIRST(first, ...) first
#define PCTALLY_CALL_OR_DECLARE(call, name, ...) \
  PCTALLY_FIRST(__VA_OPT__(call, ) pctally_declared_##name, )(__VA_ARGS__)

#endif
