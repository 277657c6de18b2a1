"""Who asks, and what they may do: keys, tokens, and the record of what was done."""
