"""`make fuzz`: lines like real ones, changed at random: read, kept once, and given back."""
