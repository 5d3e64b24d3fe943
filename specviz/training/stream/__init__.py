"""The training stream on its way to a model: documents as token ids, packed into batches."""
