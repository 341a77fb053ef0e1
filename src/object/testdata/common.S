/* What dwz moves common parts to: one string, in a unit that has nothing else. */
        .text
        .globl  main
        .type   main, %function
main:   .zero 16
.Lend:  .size main, .-main

        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x3c        /* partial unit */
        .byte   0
        .byte   0, 0
        .byte   0

        .section .debug_info,"",%progbits
        .4byte  .Lunit_end - .Lversion
.Lversion:
        .2byte  4
        .4byte  0
        .byte   8
        .uleb128 1
.Lunit_end:
        .section .debug_str,"MS",%progbits,1
        .asciz  "in_common"
        .section .note.GNU-stack,"",%progbits
