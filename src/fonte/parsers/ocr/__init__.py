"""Text in pictures, read by tesseract where it is installed."""
