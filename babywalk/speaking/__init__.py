"""Speaking: an agent that walks says what it did, and so makes new lessons for those who follow."""
