"""Transcripts and captions: VTT, SRT, SBV."""

from fonte.parsers.transcripts.parser import TranscriptParser

__all__ = ["TranscriptParser"]
