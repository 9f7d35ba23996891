"""The command itself, and the options that several commands share."""

from typing import TYPE_CHECKING, Any

import click

from etl import __version__, output, stopping
from etl.errors import CclakeError, StorageError

if TYPE_CHECKING:
    from etl.commit import Warehouse

warehouse_option = click.option(
    "--warehouse",
    metavar="DIR",
    help="Where the warehouse is (default: $CCLAKE_WAREHOUSE, else the platform's data directory).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def warehouse_at(given: str | None) -> "Warehouse":
    """Return the warehouse a command is for; say so if others can look into it."""
    from etl import access, config
    from etl.commit import Warehouse

    warehouse = Warehouse(config.warehouse_of(given))
    access.refuse_if_shared(warehouse)
    if remark := access.remark_on_warehouse(warehouse):
        output.say(output.printable(remark))
    return warehouse


def advise(warehouse: "Warehouse") -> None:
    """Say, beside an answer, if the last sync was long ago."""
    from etl import freshness

    if advice := freshness.freshness_of(warehouse).words():
        output.say(advice)


class _Group(click.Group):
    """Shows our own errors as a sentence and a hint, and an interrupt not at all."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        try:
            with stopping.interruptible():
                return super().invoke(ctx)
        except CclakeError as error:
            output.fail(error)
        except BrokenPipeError:
            raise  # click ends quietly when the reader of a pipe has gone.
        except MemoryError:
            what = "there is not enough memory"
            hint = "what was committed is safe; give it more, or run again with --jobs 1"
            output.fail(StorageError(what, hint=hint))
        except OSError as error:
            output.fail(StorageError(str(error), hint="free space or name another place"))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cclake")
def main() -> None:
    """Keep Claude Code's session logs, and ask SQL of them.

    \b
    cclake sync                                   read what is new
    cclake query 'select * from daily_spend'      ask
    """  # noqa: D301 - click wants the control character
