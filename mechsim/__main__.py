"""`python -m mechsim` is the command `mechsim`."""

from mechsim.cli.main import main

main()
