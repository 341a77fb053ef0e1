/* A function whose name dwz has moved to the file "companions/common". */
#include "unit.inc"
        main_of 16

        abbreviations
        .uleb128 2, 0x2e        /* subprogram */
        .byte   0
        .uleb128 0x03, 0x1f21   /* name: GNU_strp_alt */
        addresses
        .byte   0

        unit
        main_addresses
        .uleb128 2
        .4byte  0
        main_addresses
        .byte   0
.Lunit_end:
        .section .gnu_debugaltlink,"",%progbits
        .asciz  "companions/common"
        .byte   0xab, 0xcd, 0xef, 1, 2, 3, 4, 5
        .section .note.GNU-stack,"",%progbits
