"""Many runs: what is found by running a mechanism, or many mechanisms, more than once."""
