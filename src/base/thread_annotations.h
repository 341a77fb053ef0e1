// Declares which lock guards what, as clang's -Wthread-safety checks it; other compilers see nothing.
#pragma once

#ifdef __clang__
#define PCTALLY_ANNOTATION(attribute) __attribute__((attribute))
#else
#define PCTALLY_ANNOTATION(attribute)
#endif

#define CAPABILITY(name) PCTALLY_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY PCTALLY_ANNOTATION(scoped_lockable)
/// A variable that is read and written under the lock only.
#define GUARDED_BY(lock) PCTALLY_ANNOTATION(guarded_by(lock))
/// A function that is called under the lock only; and one that takes it, gives it back, or must not be
/// called under it.
#define REQUIRES(lock) PCTALLY_ANNOTATION(requires_capability(lock))
#define ACQUIRE(...) PCTALLY_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) PCTALLY_ANNOTATION(release_capability(__VA_ARGS__))
#define EXCLUDES(lock) PCTALLY_ANNOTATION(locks_excluded(lock))
/// The exception; says at its place why.
#define NO_THREAD_SAFETY_ANALYSIS PCTALLY_ANNOTATION(no_thread_safety_analysis)
