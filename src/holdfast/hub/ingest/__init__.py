"""What hooks and transcripts tell, read into records and written as rows."""
