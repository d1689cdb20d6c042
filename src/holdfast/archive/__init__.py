"""Oversized tool results, kept whole and shown in part; copies of transcripts, where turned on."""
