"""Files that hold files: archives, and mails with their attachments."""
