"""The linter's rules on formats, comparisons, calls and literals whose hits are bugs.

Rules on style are left out. Rules whose hits are only sometimes bugs have a judge in `judges`.
"""

from leadhand.teams.review.lenses.bugs import judges
from leadhand.teams.review.lenses.bugs.checks import check, product_check

_FORMATS = (
    product_check(
        "percent-format", "F501 F502 F503 F505 F506 F507 F508 F509 PLE1307",
        "The formatting raises an exception when this line runs.",
        "Make the placeholders and the values after `%` agree.",
    ),
    product_check(
        "str-format", "F521 F524 F525",
        "The formatting raises an exception when this line runs.",
        "Make the placeholders and the arguments of `format` agree.",
    ),
    product_check(
        "unused-format-argument", "F504 F522 F523",
        "The text does not contain a value that it should contain.",
        "Add the missing placeholder, or drop the argument.",
    ),
    check(
        "logging-arguments", "PLE1205 PLE1206",
        "Logging catches the error and prints a traceback instead of the message.",
        "Pass exactly one argument for each placeholder.",
    ),
    check(
        "logging-extra-clash", "G101",
        "Logging raises a KeyError for keys that a log record already has.",
        "Use another key in `extra`.",
    ),
)  # fmt: skip
_COMPARISONS = (
    product_check(
        "is-literal", "F632",
        "`is` compares identity, which depends on how Python stores equal values.",
        "Compare with `==` or `!=`.",
    ),
    product_check(
        "nan-comparison", "PLW0177",
        "NaN equals nothing, not even itself, so the result never depends on the value.",
        "Use `math.isnan` or the library's own check.", judge=judges.nan_comparison,
    ),
    check(
        "unused-comparison", "B015",
        "The result is discarded; probably an assignment or an `assert` was intended.",
        "Write `=` to assign, or put `assert` in front.", judge=judges.unused_comparison,
    ),
    product_check(
        "constant-condition", "SIM222 SIM223",
        "The condition does not depend on the other operands.",
        "Compare with each value, as in `x == a or x == b`, or drop the constant.",
        judge=judges.constant_condition,
    ),
    check(
        "always-true", "F631 F634",
        "A tuple that is not empty is always true, so this checks nothing.",
        "Remove the parentheses around condition and message.",
    ),
    check(
        "same-either-way", "RUF034",
        "Both branches give the same value, so the condition has no effect.",
        "Correct one of the branches, or drop the condition.",
    ),
)  # fmt: skip
_CALLS = (
    check(
        "misleading-strip", "B005 PLE1310",
        "The argument is a set of characters, not an affix, so other letters are removed, too.",
        "Use `removeprefix` or `removesuffix`.", judge=judges.misleading_strip,
    ),
    check(
        "open-mode", "PLW1501",
        "`open` raises a ValueError.",
        "Use a valid mode, for example `r`, `wb` or `a+`.",
    ),
    product_check(
        "environment-variable", "PLE1507 PLW1507 B003",
        "The environment of the process is not what the code expects.",
        "Pass the variable's name as text; copy with `os.environ.copy()`, empty with `.clear()`.",
    ),
    check(
        "lock-not-kept", "PLW2101",
        "Each call creates a lock of its own, which excludes nothing.",
        "Create the lock once, where all users share it.",
    ),
    check(
        "suppresses-nothing", "B022",
        "Without arguments `suppress` lets every exception through.",
        "Name the exceptions to suppress.",
    ),
    product_check(
        "super-not-called", "PLW0245",
        "`super` without parentheses is the class itself, so the parent's method is not found.",
        "Write `super()`.",
    ),
    product_check(
        "print-redirect", "F633",
        "In Python 3 this applies `>>` to a function and raises a TypeError.",
        "Use `print(..., file=...)`.",
    ),
    check(
        "repeated-keyword", "PLE1132",
        "The call raises a TypeError.",
        "Pass the argument once.",
    ),
    check(
        "shared-fromkeys-value", "RUF024",
        "All keys share one object, so a change of one value changes all of them.",
        "Use a comprehension, as in `{key: [] for key in keys}`.",
    ),
    check(
        "default-factory-keyword", "RUF026",
        "`defaultdict` takes its factory by position; the keyword becomes an ordinary entry.",
        "Pass the factory as the first argument.",
    ),
    product_check(
        "inexact-decimal", "RUF032",
        "The decimal inherits the float's rounding error.",
        "Pass the number as text.",
    ),
    check(
        "flags-as-count", "B034",
        "Python uses the flags as a number of replacements or splits, not as flags.",
        "Pass them as `flags=`.", judge=judges.flags_as_count,
    ),
    check(
        "print-as-message", "RUF030",
        "The message of the assertion is `None`.",
        "Pass the text itself.",
    ),
    product_check(
        "unary-increment", "B002",
        "Python has no increment operator: this is two signs and changes nothing.",
        "Write `x += 1`.",
    ),
    product_check(
        "invalid-index", "RUF016 PLE0643",
        "Indexing raises an exception when this line runs.",
        "Use an index that the value has.",
    ),
)  # fmt: skip
_DATA = (
    check(
        "duplicate-key", "F601 F602",
        "Python keeps only the last value, without a warning.",
        "Remove one of the entries, or correct its key.", judge=judges.duplicate_key,
    ),
    check(
        "static-key", "B035",
        "Every iteration writes the same key, so only the last value remains.",
        "Make the key depend on the loop variable.",
    ),
    product_check(
        "annotated-not-assigned", "B032",
        "This is an annotation, which assigns nothing.",
        "Write `=` to assign.",
    ),
)  # fmt: skip

CHECKS = (*_FORMATS, *_COMPARISONS, *_CALLS, *_DATA)
