"""What a doomed process would spend its time on, done once in the server that it is forked from."""

import pyarrow.compute  # noqa: F401 - loaded on first use otherwise

from etl import bill, pipeline  # noqa: F401 - as above
from etl.cli import main  # noqa: F401 - as above
from etl.prices import shipped
from tests.faults import strikes  # noqa: F401 - as above

shipped()
