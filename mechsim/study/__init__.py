"""Studies: many motions of one mechanism, what is measured of them, and what the measures say."""
