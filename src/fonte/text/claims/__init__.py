"""What a sentence claims, part by part, and whether another sentence says the same.

``figures``, ``days``, ``names`` and ``polarity`` read facts out of a sentence; ``wording`` reads its words;
``reading`` puts them together; ``alignment`` finds the sentence of a source that a claim goes back to; ``comparison``
compares the two. Pure, Italian and English; of other languages numbers, dates in figures, codes.
"""
