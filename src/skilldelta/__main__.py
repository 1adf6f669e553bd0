"""`python -m skilldelta` is the same as `skilldelta`."""

from skilldelta.cli.entry import main

if __name__ == "__main__":
    main()
