"""The rules of my team."""

from pathlib import Path

from inplace_lint.rules.api import Draft, Event, Harm, Performed, Rule, Spelling, Stale, kept, named, short

PAGES = Path(__file__).parent / "pages"
OURS = {"exp", "softmax"}


def item_write(event: Event) -> Draft | None:
    """Report each item assignment to a tensor in a forward."""
    if not isinstance(event, Performed) or event.write.spelled is not Spelling.ITEM:
        return None
    return Draft(
        message=f"an item of {named(event.write.symbol)} is assigned in a forward",
        write=event.write,
        label="assigned here",
        help="use `torch.where`",
        assumptions=event.assumptions,
    )


def overwritten(event: Event) -> Draft | None:
    """Report a write to what one of our functions keeps, with the help of our handbook."""
    if not isinstance(event, Stale) or short(event.save.op) not in OURS:
        return None
    return Draft(
        message=f"{named(event.write.symbol)} is overwritten, and {kept(event.save)}",
        write=event.write,
        help="see chapter 3 of the handbook",
        assumptions=event.assumptions,
    )


RULES = (
    Rule(
        "TEAM101",
        "item-write-in-forward",
        Harm.STYLE,
        item_write,
        default=False,
        opinion=True,
        provable=False,
        page=PAGES / "item-write-in-forward.md",
    ),
    Rule(
        "TEAM201",
        "overwritten-activation",
        Harm.BACKWARD,
        overwritten,
        page=PAGES / "overwritten-activation.md",
        url="https://handbook.example.com/overwritten-activation",
    ),
)
