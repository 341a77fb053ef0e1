/* A function that counts to 20,000, as machine code: for memory that a program makes executable. One byte
 * where there is none for this machine. */
#ifndef LOOP_CODE_H_
#define LOOP_CODE_H_

#if defined(__x86_64__)
/* mov $20000,%ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char kCode[] = {0xb9, 0x20, 0x4e, 0x00, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
#elif defined(__aarch64__)
/* mov w0,#20000; 1: subs w0,w0,#1; b.ne 1b; ret */
static const unsigned char kCode[] = {0x00, 0xc4, 0x89, 0x52, 0x00, 0x04, 0x00, 0x71,
                                      0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char kCode[] = {0};
#endif

#endif
