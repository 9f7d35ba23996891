"""After a repair each machine's logs are read again from where they lie."""

from pathlib import Path

import pytest

from tests.ruins import Ruin, files_of, mend
from tests.sessions import value
from tests.tampering import flip_a_bit


@pytest.mark.slow
def test_a_part_of_another_machine_is_read_again_from_its_own_logs(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    for path in files_of(lake, "entries"):
        flip_a_bit(path)
    report = mend(lake, ruin.laptop)
    assert [run.source for run in report.runs] == ["laptop", "phone"]
    assert ruin.differences(lake) == {}


def test_a_folder_is_read_under_the_name_it_is_known_by(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    files_of(lake, "usage")[0].unlink()
    report = mend(lake, ruin.laptop, source="elsewhere")
    assert [run.source for run in report.runs] == ["laptop"]
    assert value(lake, "select count(distinct source) from source_files") == 2
