"""Mails: Internet messages (EML) and Outlook's own files (MSG)."""

from fonte.parsers.mail.parser import MailParser

__all__ = ["MailParser"]
