"""What doomed syncs have behind them when they are forked: the imports, and the price book.

The server of forks imports this once; without it each fork would take a second for the same.
"""

import importlib

from etl.prices import shipped
from tests.faults.forked import FORKS

FORKS.set_forkserver_preload(["tests.faults.forked", "tests.faults.warm"])
importlib.import_module("pyarrow.compute")
shipped()
