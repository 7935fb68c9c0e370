"""A command line of the same argument library that does nothing."""

import click


@click.command()
@click.version_option("0")
def main() -> None:
    """Do nothing."""


if __name__ == "__main__":
    main()
