"""One prompt on several arms, recorded as it is answered."""
