"""Text: normalizers, transliteration (romanisation), and tokenizers."""
