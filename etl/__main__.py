"""Run the command with python -m etl."""

from etl.cli import main

main()
