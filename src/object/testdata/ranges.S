/* A unit with 70,000 ranges of a byte each. */
#include "unit.inc"
        main_of 140016

        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x11        /* compile unit */
        .byte   1
        .uleb128 0x11, 0x01     /* low_pc: addr */
        .uleb128 0x55, 0x17     /* ranges: sec_offset */
        .byte   0, 0
        .uleb128 2, 0x2e        /* subprogram */
        .byte   0
        .uleb128 0x03, 0x08     /* name: string */
        addresses
        .byte   0

        unit
        .8byte  0
        .4byte  0
        .uleb128 2
        .asciz  "function"
        main_addresses
        .byte   0
.Lunit_end:
        .section .debug_ranges,"",%progbits
        .set    at, 0
        .rept   70000
        .8byte  main + at, main + at + 1
        .set    at, at + 2
        .endr
        .8byte  0, 0
        .section .note.GNU-stack,"",%progbits
