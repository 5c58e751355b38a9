"""The rules of the four families in plain Python: the authority, the verifier and the oracle of the tests."""
