/* What dwz moves common parts to: one string, in a unit that has nothing else. */
#include "unit.inc"
        main_of 16

        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x3c        /* partial unit */
        .byte   0
        .byte   0, 0
        .byte   0

        unit
.Lunit_end:
        .section .debug_str,"MS",%progbits,1
        .asciz  "in_common"
        .section .note.GNU-stack,"",%progbits
