"""What a sentence claims, part by part, and whether another sentence says the same.

``figures``, ``wholes``, ``days``, ``clock``, ``names`` and ``polarity`` read facts out of a sentence; ``wording`` reads
its words; ``reading`` puts them together; ``alignment`` finds the sentence of a source that a claim goes back to;
``comparison``, ``quantities``, ``contraries`` and ``turning`` compare the two. Pure, Italian and English; of other
languages numbers, dates in figures, codes.
"""
