"""The linter's rules on exceptions, classes, definitions, functions and tasks whose hits are bugs.

Rules on style are left out. Rules whose hits are only sometimes bugs have a judge in `judges`.
"""

from leadhand.teams.review.lenses.bugs import closures, defaults, judges
from leadhand.teams.review.lenses.bugs.checks import check, product_check

_EXCEPTIONS = (
    check(
        "exception-not-raised", "PLW0133",
        "The exception is only created, so the code continues as if nothing had happened.",
        "Put `raise` in front.",
    ),
    product_check(
        "raises-no-exception", "B016 F901",
        "Python raises a TypeError instead of the intended exception.",
        "Raise an exception class or an instance of one.",
    ),
    product_check(
        "catches-nothing", "B025 B029 B030 PLW0711",
        "The handler never runs, or fails itself when an exception arrives.",
        "Name exception classes, several in a tuple, each in one handler only.",
    ),
    product_check(
        "jump-in-finally", "B012",
        "It silently drops any active exception, even KeyboardInterrupt.",
        "Leave the `finally` block without jumping; return after it.", judge=judges.jump_in_finally,
    ),
    product_check(
        "logged-outside-handler", "LOG004",
        "There is no exception to show here, so the log ends in `NoneType: None`.",
        "Use `error`, or log where the exception is caught.", judge=judges.logged_outside_handler,
    ),
)  # fmt: skip
_CLASSES = (
    product_check(
        "init-returns", "PLE0100 PLE0101",
        "Creating an instance raises a TypeError.",
        "Set attributes in `__init__`; return values from a class method.",
        judge=judges.init_returns,
    ),
    product_check(
        "special-method-signature", "PLE0302",
        "Python calls it with other arguments, which raises a TypeError.",
        "Use the parameters that the language defines for the method.",
        judge=judges.special_method_signature,
    ),
    product_check(
        "special-method-return", "PLE0303 PLE0307",
        "Python checks the type and raises a TypeError.",
        "Return the type that the language requires.",
    ),
    product_check(
        "not-in-slots", "PLE0237",
        "The assignment raises an AttributeError.",
        "Add the attribute to `__slots__`.", judge=judges.missing_slot,
    ),
    check(
        "duplicate-base", "PLE0241",
        "Defining the class raises a TypeError.",
        "Name each base once.",
    ),
    check(
        "mutable-dataclass-default", "RUF008",
        "Defining the class raises a ValueError.",
        "Use `field(default_factory=...)`.",
    ),
    check(
        "dataclass-enum", "RUF049",
        "The two conflict: members lose their identity or can't be created.",
        "Drop `@dataclass`.",
    ),
    check(
        "dispatch-decorator", "PLE1519 PLE1520",
        "It dispatches on the wrong argument.",
        "Use `singledispatchmethod` for methods and `singledispatch` for functions.",
    ),
    check(
        "redefined", "F811",
        "The later definition replaces the earlier one before anything uses it.",
        "Rename one of them, or remove the unwanted one.", judge=judges.redefined,
    ),
    check(
        "test-never-runs", "F811",
        "The later definition replaces the earlier one, so the earlier test never runs.",
        "Give the tests different names.", judge=judges.redefined_test,
    ),
    product_check(
        "docstring-not-kept", "B021",
        "Python evaluates and drops the f-string; the docstring stays empty.",
        "Drop the `f`, or set `__doc__`.",
    ),
)  # fmt: skip
_FUNCTIONS = (
    check(
        "late-bound-loop-variable", "B023",
        "All closures of the loop see the variable's last value.",
        "Bind the value when creating the closure, for example as a default: `lambda x=x: ...`.",
        judge=closures.late_binding,
    ),
    product_check(
        "shared-mutable-default", "B006",
        "Python creates the default once, so a change in one call shows up in the next.",
        "Use `None` as the default and create the object inside the function.",
        judge=defaults.leaking_default,
    ),
)  # fmt: skip
_ASYNC = (
    product_check(
        "dangling-task", "RUF006",
        "The event loop keeps only a weak reference, so the task may vanish before it is done.",
        "Keep the task in a variable or a set until it is done.",
        family="async", judge=judges.dangling_task,
    ),
    check(
        "trio-call-not-awaited", "ASYNC105",
        "Without `await` nothing happens.",
        "Put `await` in front.", family="async",
    ),
)  # fmt: skip


CHECKS = (*_EXCEPTIONS, *_CLASSES, *_FUNCTIONS, *_ASYNC)
