"""Motions that are to be as a person wants them: what they depend on, and what is best."""
