"""The benchmark room: ours against peers in one run. `make bench` runs it; no other room imports it."""
