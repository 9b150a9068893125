"""Many runs of one mechanism: what is measured of each, and how they are told apart."""
