"""Numbers and functions of motions, as a person writes them: measures, quantities, extremes."""
