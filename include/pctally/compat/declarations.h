/* What the headers of all systems need for sources that declare the calls themselves.
 *
 * The calls are macros, most of which cast arguments. A declaration without
 * arguments, such as `extern int profil();`, may have any type: PCTALLY_CALL_OR_DECLARE gives it a name that
 * nobody uses. A macro cannot know a declaration with arguments from a call. For sources that have such,
 * define PCTALLY_SOURCE_DECLARES: the headers then have no macros and no declarations, and the source's own
 * declarations get our names. */
#ifndef PCTALLY_COMPAT_DECLARATIONS_H
#define PCTALLY_COMPAT_DECLARATIONS_H
#pragma GCC system_header /* __VA_OPT__ in every standard */

#define PCTALLY_FIRST(first, ...) first
#define PCTALLY_CALL_OR_DECLARE(call, name, ...) \
  PCTALLY_FIRST(__VA_OPT__(call, ) pctally_declared_##name, )(__VA_ARGS__)

#endif
