"""The version, apart, so that every room may know it without importing the whole."""

__version__ = "0.1.0"
