from inplace_lint.core.finding import Finding as Finding
from inplace_lint.live.watch import assert_arguments_unchanged as assert_arguments_unchanged
from inplace_lint.live.watch import assert_no_inplace_bugs as assert_no_inplace_bugs
from inplace_lint.live.watch import watch as watch

__version__: str
